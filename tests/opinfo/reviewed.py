"""Where any device may differ from the CPU, and why. Reviewed, and short on purpose.

A platform adds its own in its tests/opinfo.py. `cases` are shell patterns of `database:name:dtype`.
"""

from .expectations import Close, Crashing, Expectations, Expected, HostArguments, Uninitialised

CELLS = (
    "an accelerator takes PyTorch's fused recurrent cells, the CPU oneDNN's layers or plain formulas: other rounding"
)
RECURRENT = ("nn.GRU*", "nn.LSTM*", "nn.RNN*")
CHUNKED = ("modules:nn.LinearCrossEntropyLoss", "ops:nn.functional.linear_cross_entropy*")
ORDER = (
    "PyTorch numbers the nodes of a graph for each thread, and a device's backward pass has its own: terms are added in"
    " another order than on the CPU, where everything runs on the calling thread"
)

EVERYWHERE = Expectations(
    uninitialised=[
        Uninitialised(
            cases=("ops:empty*", "ops:new_empty*", "ops:resize_*"),
            cause="the operator's results are memory that nobody wrote",
        ),
    ],
    host_arguments=[
        HostArguments(cases=("ops:tensor_split:*",), cause="the indices are read on the CPU: CUDA refuses its own too"),
    ],
    crashing=[
        Crashing(
            cases=("ops:lu_unpack:*",),
            checks=("empty*", "0-d*"),
            cause="with an empty matrix and pivots that are not empty the CPU's kernel reads beyond the end",
        ),
        Crashing(
            cases=("ops:linalg.lu:*", "ops:lu_unpack:*"),
            checks=("out transposed",),
            cause="the CPU's kernel writes beyond the end of an `out` in row-major order and corrupts the heap",
        ),
    ],
    close=[
        Close(
            cases=("ops:index_reduce.prod:bfloat16",),
            checks=("second gradient",),
            relative=0.25,
            absolute=0.1,
            cause=ORDER + "; here they are products, which differ in the last two of bfloat16's eight bits",
        ),
        Close(cases=("*:bfloat16",), checks=("second gradient",), relative=0.1, absolute=0.1, cause=ORDER),
        Close(cases=("*:float16",), checks=("second gradient",), relative=0.02, absolute=0.02, cause=ORDER),
        Close(
            cases=("*:float32", "*:complex64"), checks=("second gradient",), relative=1e-4, absolute=1e-4, cause=ORDER
        ),
        Close(cases=("*",), checks=("second gradient",), relative=1e-8, absolute=1e-8, cause=ORDER),
        Close(cases=tuple(f"modules:{m}:float64" for m in RECURRENT), relative=1e-9, absolute=1e-12, cause=CELLS),
        Close(cases=tuple(f"modules:{m}:float32" for m in RECURRENT), relative=1e-4, absolute=1e-5, cause=CELLS),
        Close(
            cases=tuple(f"{name}:{dtype}" for name in CHUNKED for dtype in ("bfloat16", "float16")),
            relative=0.05,
            absolute=0.05,
            cause="PyTorch's chunked loss chooses where it accumulates in single precision by the device's type",
        ),
    ],
    expected=[
        Expected(
            cases=tuple(f"modules:{m}:*" for m in RECURRENT),
            checks=("column-major",),
            aspect="strides",
            owner="pytorch",
            cause="the memory layout of gradients follows the formula, and that is the fused cell's here",
        ),
        Expected(
            cases=("ops:lu:*",),
            checks=("out on the CPU",),
            aspect="exception",
            owner="pytorch",
            cause="torch.lu is written in Python and copies into `out`, wherever that is",
        ),
        Expected(
            cases=("modules:nn.GroupNorm:*",),
            checks=("channels last",),
            aspect="strides",
            owner="pytorch",
            cause="PyTorch's formula of this derivative keeps the memory format on the CPU only",
        ),
    ],
)
