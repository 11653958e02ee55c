"""Where flagos may differ from native `cuda` on PyTorch's own samples, and why: in place of what is expected of the CPU."""

from torch_fl_opinfo.expectations import Close, Expectations, Expected
from torch_fl_opinfo.reviewed import RECURRENT

ATOMICS = "PyTorch's CUDA kernels add gradients up by atomics, in another order each time"

AGAINST_NATIVE = Expectations(
    close=[
        Close(cases=("*:bfloat16", "*:float16"), checks=("*gradient",), relative=0.05, absolute=0.05, cause=ATOMICS),
        Close(
            cases=tuple(f"modules:{m}:float32" for m in RECURRENT),
            relative=1e-3,
            absolute=1e-3,
            cause="cuDNN's recurrent layers, which PyTorch takes for CUDA alone, multiply in TF32; flagos has PyTorch's cells",
        ),
    ],
    expected=[
        Expected(
            cases=("ops:jiterator*",),
            aspect="exception",
            owner="pytorch",
            cause="torch.cuda.jiterator compiles kernels for CUDA tensors alone",
        ),
        Expected(
            cases=tuple(f"modules:{m}:*" for m in RECURRENT),
            aspect="offset",
            owner="pytorch",
            cause="PyTorch joins the weights of a recurrent layer in one buffer for CUDA alone",
        ),
        Expected(
            cases=tuple(f"modules:{m}:*" for m in RECURRENT),
            checks=("evaluation", "save and load"),
            aspect="exception",
            owner="pytorch",
            cause="cuDNN's recurrent layers have no gradient in evaluation mode, PyTorch's cells have",
        ),
        Expected(
            cases=("modules:nn.BatchNorm*", "ops:nn.functional.batch_norm:*"),
            checks=("column-major",),
            aspect="strides",
            owner="pytorch",
            cause="PyTorch takes cuDNN's batch norm by the tensor's device type, and its results are contiguous",
        ),
        Expected(
            cases=("ops:nn.functional.batch_norm:*",),
            checks=("noncontiguous*",),
            aspect="values",
            owner="pytorch",
            cause="for cuDNN PyTorch makes running statistics with gaps contiguous, and what it writes to the copies is lost",
        ),
        Expected(
            cases=("ops:baddbmm:*",),
            checks=("expanded inplace",),
            aspect="values",
            owner="pytorch",
            cause="elements that share their memory are written to, and which of the products stays there is chance",
        ),
        Expected(
            cases=("ops:nn.functional.max_unpool*",),
            checks=("forward mode",),
            aspect="values",
            owner="pytorch",
            cause="of values for the same place which one stays is chance",
        ),
        Expected(
            cases=("optimizers:Adagrad:*",),
            checks=("fused",),
            aspect="exception",
            owner="pytorch",
            cause="PyTorch's list of devices with a fused Adagrad has those of packages, but not CUDA",
        ),
    ],
)
