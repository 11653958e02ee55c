"""Where the device may differ from the CPU, and why. Reviewed, and short on purpose.

`cases` are shell patterns of `database:name:dtype`.
"""

from .expectations import Close, Crashing, Expectations, Expected, Uninitialised

CELLS = "an accelerator takes PyTorch's fused recurrent cells, the CPU oneDNN's layers or plain formulas: other rounding"

REVIEWED = Expectations(
    uninitialised=[
        Uninitialised(
            cases=("ops:empty*", "ops:new_empty*", "ops:resize_*"),
            cause="the operator's results are memory that nobody wrote",
        ),
    ],
    crashing=[
        Crashing(
            cases=("ops:lu_unpack:*",),
            checks=("empty*", "0-d*"),
            cause="with an empty matrix and pivots that are not empty the CPU's kernel reads beyond the end",
        ),
    ],
    close=[
        Close(
            cases=("*",),
            checks=("second gradient",),
            cause="PyTorch numbers the nodes of a graph for each thread, and a device's backward pass has its own: terms are"
            " added in another order than on the CPU, where everything runs on the calling thread",
        ),
        Close(cases=("modules:nn.GRU*:float64", "modules:nn.LSTM*:float64"), relative=1e-9, absolute=1e-12, cause=CELLS),
        Close(cases=("modules:nn.GRU*:float32", "modules:nn.LSTM*:float32"), relative=1e-4, absolute=1e-5, cause=CELLS),
    ],
    expected=[
        Expected(
            cases=("modules:nn.GroupNorm:*",),
            checks=("channels last",),
            aspect="strides",
            owner="pytorch",
            cause="PyTorch's formula of this derivative keeps the memory format on the CPU only",
        ),
    ],
)
