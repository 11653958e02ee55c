"""Where kernels of slot `musa` may differ from the CPU's on PyTorch's own samples, and why.

Of entries about the same case the first counts. Integers and bool stay exact, whatever the entry says.
"""

from torch_fl_opinfo.expectations import Close, Crashing, Expectations, Expected
from torch_fl_opinfo.reviewed import ORDER

CANCELLED = (
    "sums of products that one side rounds one by one, and the other at the end; where they cancel, the roundings remain"
)

# The second gradients of all devices are compared more closely.
BEFORE_ALL = Expectations(
    close=[
        Close(
            cases=("modules:nn.MultiheadAttention:float32",),
            checks=("second gradient",),
            relative=1e-3,
            absolute=1e-3,
            cause=ORDER + ", and mudnn adds in another one again",
        ),
        Close(cases=("*:complex32",), checks=("second gradient",), relative=0.02, absolute=0.02, cause=CANCELLED),
    ],
)

REVIEWED = Expectations(
    crashing=[
        Crashing(
            cases=("ops:_segment_reduce.offsets:*",),
            checks=("empty*",),
            cause="offsets that lie beyond the data, here an empty tensor, are read all the same by the CPU's kernel",
        ),
        Crashing(
            cases=("ops:masked.median:*", "ops:median:*", "ops:nanmedian:*"),
            checks=("expanded*",),
            cause="along a dimension of stride 0 the CPU's kernel takes its value from beyond the memory",
        ),
    ],
    close=[
        Close(
            cases=("optimizers:LBFGS:bfloat16", "optimizers:LBFGS:float16"),
            relative=0.1,
            absolute=0.05,
            cause="a step divides by products of differences of gradients, of which half precision leaves a digit or two",
        ),
        Close(
            cases=("optimizers:LBFGS:float32", "optimizers:LBFGS:complex64"),
            relative=1e-4,
            absolute=1e-6,
            cause="where it has converged, the loss and the gradients are roundings",
        ),
        Close(
            cases=("ops:nn.functional.conv*:bfloat16", "modules:nn.*Conv*:bfloat16"),
            relative=0.1,
            absolute=0.3,
            cause="the CPU rounds partial sums, each of them large beside the result where they cancel",
        ),
        Close(cases=("*:bfloat16",), relative=0.05, absolute=0.05, cause=CANCELLED),
        Close(cases=("*:float16",), relative=0.01, absolute=0.01, cause=CANCELLED),
        Close(
            cases=("ops:*conv*:complex32", "modules:nn.*Conv*:complex32"), relative=0.05, absolute=0.05, cause=CANCELLED
        ),
        Close(
            cases=("*:float32", "*:complex64"),
            relative=1e-5,
            absolute=2e-5,
            cause="mudnn adds in another order and rounds its functions elsewhere: the last digits of float32 differ, also"
            " where an `out` of float64 receives them",
        ),
        Close(
            cases=("*",),
            cause="mudnn adds in another order and rounds its functions elsewhere",
        ),
    ],
    expected=[
        Expected(
            cases=("ops:native_batch_norm:*", "ops:native_layer_norm:*"),
            aspect="dtype",
            owner="torch-fl",
            cause="mean and reciprocal deviation of half types are float32, as PyTorch's own decompositions have them for every"
            " device but the CPU",
        ),
        Expected(
            cases=("ops:nn.functional.gelu:float32",),
            aspect="values",
            owner="pytorch",
            checks=("out transposed", "out within"),
            cause="the CPU's kernel leaves an `out` with gaps or in another order as it was",
        ),
        Expected(
            cases=tuple(f"ops:{name}:*" for name in ("argsort", "msort", "sort", "topk")),
            aspect="values",
            owner="pytorch",
            cause="without `stable` equal numbers come in any order: the CPU's is its vectorised quicksort's, mudnn's is stable",
        ),
    ],
)
