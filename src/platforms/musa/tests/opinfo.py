"""Where kernels of slot `musa` may differ from the CPU's on PyTorch's own samples, and why.

Of entries about the same case the first counts. Integers and bool stay exact, whatever the entry says.
"""

from torch_fl_opinfo.expectations import Close, Expectations, Expected

REVIEWED = Expectations(
    close=[
        Close(
            cases=("optimizers:LBFGS:bfloat16", "optimizers:LBFGS:float16"),
            relative=0.1,
            absolute=0.01,
            cause="a step divides by products of differences of gradients, of which half precision leaves a digit or two",
        ),
        Close(
            cases=("*:bfloat16",),
            checks=("forward mode", "*gradient"),
            relative=0.05,
            absolute=0.02,
            cause="a derivative is a sum of products that are rounded one by one; where they cancel, the roundings remain",
        ),
        Close(
            cases=("*:float16",),
            checks=("forward mode", "*gradient"),
            relative=0.01,
            absolute=0.004,
            cause="a derivative is a sum of products that are rounded one by one; where they cancel, the roundings remain",
        ),
        Close(
            cases=("*",),
            cause="mudnn adds in another order and rounds its functions elsewhere",
        ),
    ],
    expected=[
        Expected(
            cases=tuple(f"ops:{name}:*" for name in ("argsort", "msort", "sort")),
            aspect="values",
            owner="pytorch",
            cause="without `stable` equal numbers come in any order: the CPU's is that of its vectorised quicksort, mudnn's is stable",
        ),
    ],
)
