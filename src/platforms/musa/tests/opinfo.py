"""Where kernels of slot `musa` may differ from the CPU's on PyTorch's own samples, and why."""

from torch_fl_opinfo.expectations import Close, Expectations

REVIEWED = Expectations(
    close=[
        Close(
            cases=("*",),
            cause="mudnn adds in another order and rounds its functions elsewhere; integers and bool stay exact",
        ),
    ],
)
