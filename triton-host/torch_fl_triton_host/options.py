"""Compile options: what a kernel's launch may ask for, and what Triton's front end reads."""

import dataclasses
import hashlib
from typing import Any


@dataclasses.dataclass(frozen=True)
class HostOptions:
    """Options of one compilation.

    Warps, stages and clusters describe a GPU; they are accepted because kernels
    name them, and do nothing here.  The names are Triton's own.
    """

    num_warps: int = 4
    num_ctas: int = 1
    num_stages: int = 1
    warp_size: int = 32
    maxnreg: int | None = None
    ir_override: str | None = None
    enable_fp_fusion: bool = False
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0
    extern_libs: tuple[tuple[str, str], ...] = ()
    debug: bool = False
    sanitize_overflow: bool = True
    backend_name: str = "flagos"
    arch: str = "host"
    instrumentation_mode: str = ""

    @classmethod
    def parse(cls, given: dict[str, Any]) -> "HostOptions":
        """Take what is known from `given` and leave the rest.

        `given` also holds the kernel's own keyword arguments, and options of
        other minor versions of Triton.

        Raises:
            ValueError: ``num_warps`` is not a power of two.
        """
        names = {field.name for field in dataclasses.fields(cls)}
        options = cls(**{name: value for name, value in given.items() if name in names and value is not None})
        if options.num_warps < 1 or options.num_warps & (options.num_warps - 1):
            raise ValueError(f"num_warps must be a power of two, not {options.num_warps}")
        return options

    def __getattr__(self, name: str) -> None:
        # A newer front end asks for options that this class does not know: they are off.
        if name.startswith("_"):
            raise AttributeError(name)

    def hash(self) -> str:
        """Part of the key under which Triton caches a kernel."""
        return hashlib.sha256(repr(dataclasses.astuple(self)).encode()).hexdigest()
