"""Environment variables that torch_fl reads: the one table, of which the reference page is made.

Standard library only, and nothing of this package: it is also read where PyTorch is not installed. Older names of
variables are in :mod:`torch_fl.compat`.
"""

from typing import NamedTuple


class Variable(NamedTuple):
    """One variable of the environment."""

    name: str  #: where it ends in ``_``, the beginning of names
    default: str  #: what an unset or empty one means
    meaning: str  #: in Markdown


#: read while a program runs
VARIABLES = (
    Variable("FLAGOS_ACCELERATOR", "the installed platform", "the platform that a program expects; another one is an error at start"),
    Variable("FLAGOS_ADAPTERS_OFF", "", "libraries that are left as they are (`flag_gems`, `lightning`, `torch._inductor`, `triton`), with commas"),
    Variable("FLAGOS_BACKEND_CONFIG", "the platform's file", "routing file to use: a path, or the name of one that torch-fl ships"),
    Variable("FLAGOS_FORCE_BACKEND", "", "`flaggems` or `vendor`: every operator that it has a kernel for goes there"),
    Variable("FLAGOS_HOST_COPIES", "0", "1: CPU kernels work on copies of device memory, as on a card; slow, shows what a card would do"),
    Variable("FLAGOS_HOST_DEVICES", "2", "emulated devices, 1 to 64"),
    Variable("FLAGOS_HOST_GUARD", "0", "1: guard pages around every block; slow, finds overruns"),
    Variable("FLAGOS_HOST_MEMORY", "8GiB", "memory of each emulated device, 1MiB to 256GiB"),
    Variable("FLAGOS_KERNEL_PATH", "", "folders with further kernel libraries, with `:` between them"),
    Variable("FLAGOS_LOG", "", "`dispatch`, `fallback` or both, with a comma: each decision is written to stderr"),
    Variable("FLAGOS_OP_", "", "and an operator, `.` written `__`: that operator's route, as in `FLAGOS_OP_add__Tensor=none`"),
    Variable("FLAGOS_STRICT_ROUTES", "0", "1: routes whose kernels are missing are an error at import"),
    Variable("FLAGOS_TRACE", "0", "1: logs what torch.profiler's device timeline opens and collects"),
    Variable("FLAGOS_TRACER_LIBRARY", "its usual place", "the vendor's tracing library"),
    Variable("FLAGOS_USE_CACHING_ALLOCATOR", "1", "0: every block comes from the platform and goes back to it"),
)
