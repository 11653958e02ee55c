"""A launch: arguments by the kernel's signature, packed into one payload, handed to the executable.

The payload is ``int64 address_offset; int32 grid[3]; int32 threads`` and then
eight bytes for each argument that the compiled kernel takes, in order.
"""

import ctypes
import math
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch_fl_triton_host import counters
from torch_fl_triton_host.device import device

HEADER = "q4i"  #: ``struct`` format of what comes before the arguments
_FORMATS = {"fp32": "f4x", "f32": "f4x", "fp64": "d", "fp16": "e6x", "bf16": "2x2s4x"}
_DESCRIPTOR = re.compile(r"tensordesc<([^\[>]*)\[([^\]]*)\]")


def _leaves(signature: Sequence[Any], path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], str]]:
    """Where each argument of the compiled kernel is found in the caller's arguments, and its Triton type."""
    for index, kind in enumerate(signature):
        if isinstance(kind, (tuple, list)):
            yield from _leaves(kind, (*path, index))
        elif kind != "constexpr":
            yield (*path, index), kind


def _descriptor_types(kind: str) -> list[str]:
    """A tensor descriptor as its parts: base; shape and strides, padding and rounding; shape and strides again."""
    element, shape = _DESCRIPTOR.match(kind).groups()
    rank = shape.count(",") + 1
    return [f"*{element}", *["i64"] * (2 * rank), "i1", "i1", *["i32"] * rank, *["i64"] * rank]


def _descriptor_parts(descriptor: Any) -> list[Any]:
    layout = [*descriptor.shape, *descriptor.strides]
    return [descriptor.base, *layout, descriptor.padding == "nan", descriptor.round_f32_to_tf32, *layout]


def _format(kind: str) -> str:
    return _FORMATS.get(kind) or ("Q" if kind[0] in "*u" else "q")


def _in_range(kind: str, value: Any) -> Any:
    """A number beyond the range of its floating-point type as infinity, which a conversion in C makes of it."""
    largest = {"fp32": 3.4028235e38, "f32": 3.4028235e38, "fp16": 65504.0}.get(kind)
    return math.copysign(math.inf, value) if largest and abs(value) > largest else value


def _bf16(value: float) -> bytes:
    # Wide first: the upper half of a float is a bfloat16, and rounding to nearest even is an addition.
    (bits,) = struct.unpack("<I", struct.pack("<f", ctypes.c_float(value).value))
    if value == value:
        bits += 0x7FFF + (bits >> 16 & 1)
    return struct.pack("<I", bits & 0xFFFFFFFF)[2:]


def _at(path: tuple[int, ...], of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def read(argument: Any) -> Any:
        for index in path:
            argument = argument[index]
        return of(argument)

    return read


class Launcher:
    """Launches one compiled kernel; Triton makes one for each and calls it with all of the kernel's arguments.

    Arguments are matched by the kernel's signature, not by their number.
    Triton's own ``JITFunction.run`` passes every parameter; ``kernel[grid](...)``
    of a compiled kernel is also called with those alone that are not declared
    ``tl.constexpr`` (FlagGems does so from Triton 3.7 on), and there an integer
    1, which Triton compiled in, is still among them.
    """

    def __init__(self, source: Any, metadata: Any) -> None:
        self.name = metadata.name
        signature = list(source.signature.values())
        parameters = getattr(getattr(source, "fn", None), "params", None)
        self._names = [p.name for p in parameters] if parameters else [f"#{i}" for i in range(len(signature))]
        passed = [p.num for p in parameters if not p.is_constexpr] if parameters else range(len(signature))
        self._place = device()
        self._on_cpu = self._place.type == "cpu"
        kinds_of_all, readers = [], []
        for path, kind in _leaves(signature):
            if kind.startswith("tensordesc"):
                kinds = _descriptor_types(kind)
                parts = [_at((i,), self._converter(k, path[0]) or _same) for i, k in enumerate(kinds)]
                readers.append((path[0], _at(path[1:], _all_of(parts))))
            else:
                kinds = [kind]
                convert = self._converter(kind, path[0])
                readers.append((path[0], _at(path[1:], convert or _same) if path[1:] else convert))
            kinds_of_all += kinds
        self._several = any(kind.startswith("tensordesc") for _, kind in _leaves(signature))
        self._all = readers
        place_of = {number: place for place, number in enumerate(passed)}
        self._declared = [(place_of.get(number), convert) for number, convert in readers]
        self._counts = (len(signature), len(place_of))
        self._kinds = kinds_of_all
        self._struct = struct.Struct(f"<{HEADER}{''.join(map(_format, kinds_of_all))}")

        import torch

        self._threads = torch.get_num_threads

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: int,
        function: Any,
        packed_metadata: tuple,
        launch_metadata: Any,
        enter_hook: Callable | None,
        exit_hook: Callable | None,
        *arguments: Any,
    ) -> None:
        if enter_hook is not None:
            enter_hook(launch_metadata)
        if grid_x > 0 and grid_y > 0 and grid_z > 0:
            values = self._values(arguments)
            header = (self._place.address_offset, grid_x, grid_y, grid_z, self._threads())
            counters.count(self.name)
            function.run(self._pack(header, values), stream)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _values(self, arguments: tuple) -> list[Any]:
        given = len(arguments)
        if given == self._counts[0]:
            plan = self._all
        elif given == self._counts[1]:
            plan = self._declared
        else:
            raise TypeError(
                f"kernel {self.name} takes {self._counts[0]} arguments, or the {self._counts[1]} that are not "
                f"declared constexpr, but {given} were given"
            )
        values = [arguments[i] if convert is None else convert(arguments[i]) for i, convert in plan]
        return [v for part in values for v in (part if type(part) is list else (part,))] if self._several else values

    def _pack(self, header: tuple[int, ...], values: list[Any]) -> bytes:
        try:
            return self._struct.pack(*header, *values)
        except OverflowError:
            return self._struct.pack(*header, *map(_in_range, self._kinds, values))
        except struct.error as error:
            raise TypeError(f"kernel {self.name}: an argument does not have the type it was compiled for: {error}") from None

    def _converter(self, kind: str, parameter: int) -> Callable[[Any], Any] | None:
        if kind == "bf16":
            return _bf16
        return self._address_of(self._names[parameter]) if kind[0] == "*" else None

    def _address_of(self, parameter: str) -> Callable[[Any], int]:
        on_cpu = self._on_cpu

        def address(argument: Any) -> int:
            if argument is None:
                return 0
            if getattr(argument, "is_cpu", on_cpu) is not on_cpu:
                wanted = self._place.type
                raise ValueError(
                    f"argument '{parameter}' of kernel {self.name} is a tensor on '{argument.device}', whose memory "
                    f"kernels on '{wanted}' do not reach; move it with .to('{wanted}')"
                )
            return argument if type(argument) is int else argument.data_ptr()

        return address


def _same(argument: Any) -> Any:
    return argument


def _all_of(parts: list[Callable[[Any], Any]]) -> Callable[[Any], list[Any]]:
    def read(descriptor: Any) -> list[Any]:
        whole = _descriptor_parts(descriptor)
        return [part(whole) for part in parts]

    return read
