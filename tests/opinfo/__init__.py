"""PyTorch's own samples on a ``flagos`` device against the CPU: ``python -m torch_fl_opinfo --help``.

PyTorch tests its operators, modules and optimizers with databases of samples (``torch.testing._internal``). Every
sample is made once, on the CPU; the same program then runs on a copy of it in CPU memory and on a copy on the device,
and everything that a user can see of the two runs is compared.

    cases.py        what there is to run: (database, name, dtype)
    mirror.py       the copies of a sample
    trial.py        one program on both sides
    compare.py      what is compared, and the differences found
    operators.py    the checks of an operator; gradients.py, outputs.py, layouts.py hold groups of them
    modules.py, optimizers.py       the checks of those
    expectations.py, .toml          reviewed differences, each with its cause
    judge.py        one case: its checks, its plan
    runner.py, worker.py            processes, time limits, crashes
    native.py, seen.py              a reference in a process of its own: the device that PyTorch drives the same card by
    report.py, picture.py           what is written
"""
