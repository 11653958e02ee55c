"""What a launch hands to a kernel, as bytes: a header, then eight bytes for each argument that the kernel takes.

The header is ``int64 address_offset; int32 grid[3]; int32 threads``.
"""

import ctypes
import math
import struct
from collections.abc import Sequence
from typing import Any

HEADER = struct.Struct("<q4i")
#: ``struct`` formats of floating-point types, filled up to eight bytes; integers fill them by themselves
_FLOATS = {"fp16": "e6x", "bf16": "2s6x", "fp32": "f4x", "f32": "f4x", "fp64": "d"}
_LARGEST = {"fp16": 65504.0, "fp32": 3.4028235677973366e38, "f32": 3.4028235677973366e38}


class Payload:
    """The layout of one kernel's payload; `kinds` are Triton's names of its argument types, as in ``*fp32`` or ``i32``."""

    def __init__(self, kinds: Sequence[str]) -> None:
        self._kinds = kinds
        formats = [_FLOATS.get(kind) or ("Q" if kind[0] in "*u" else "q") for kind in kinds]
        self._layout = struct.Struct(HEADER.format + "".join(formats))

    def pack(self, header: tuple[int, ...], values: Sequence[Any]) -> bytes:
        """The payload; a pointer is its address, a bf16 what :func:`bf16` makes of it.

        Raises:
            struct.error: a value is no number, or an integer does not fit.
        """
        try:
            return self._layout.pack(*header, *values)
        except OverflowError:  # a float beyond the range of its type
            return self._layout.pack(*header, *map(_in_range, self._kinds, values))


def _in_range(kind: str, value: Any) -> Any:
    """Infinity where a conversion in C gives it."""
    return math.copysign(math.inf, value) if kind in _LARGEST and abs(value) > _LARGEST[kind] else value


def bf16(value: float) -> bytes:
    """The two bytes of the nearest bfloat16 (ties to even): the upper half of a float32."""
    (bits,) = struct.unpack("<I", struct.pack("<f", ctypes.c_float(value).value))
    if not math.isnan(value):
        bits += 0x7FFF + (bits >> 16 & 1)
    return struct.pack("<I", bits)[2:]
