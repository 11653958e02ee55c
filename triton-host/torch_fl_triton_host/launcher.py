"""A launch: the caller's arguments, by the kernel's signature, become a payload that is handed to the executable."""

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch_fl_triton_host import counters
from torch_fl_triton_host.device import device
from torch_fl_triton_host.payload import Payload, bf16

Read = Callable[[Any], Any]
_DESCRIPTOR = re.compile(r"tensordesc<([^\[>]*)\[([^\]]*)\]")


class Launcher:
    """Launches one compiled kernel; Triton makes one for each and calls it with the kernel's arguments.

    Arguments are matched by the kernel's signature, not by their number.
    Triton's own ``JITFunction.run`` passes every parameter; ``kernel[grid](...)``
    of a compiled kernel is also called with those alone that are not declared
    ``tl.constexpr`` (FlagGems does so from Triton 3.7 on), and there an integer
    1, which Triton compiled in, is still among them.
    """

    def __init__(self, source: Any, metadata: Any) -> None:
        import torch

        self.name = metadata.name
        self._place = device()
        self._threads = torch.get_num_threads
        signature = list(source.signature.values())
        parameters = getattr(getattr(source, "fn", None), "params", None)  # none where the source is a file of IR
        names = [p.name for p in parameters] if parameters else [f"#{i}" for i in range(len(signature))]
        kinds, self._all = [], []
        for path, kind in _leaves(signature):
            for part, read in _parts(kind):
                kinds.append(part)
                if part.startswith("*"):
                    read = self._address(names[path[0]], read)
                self._all.append((path[0], _at(path[1:], read)))
        declared = [p.num for p in parameters if not p.is_constexpr] if parameters else range(len(signature))
        position = {number: i for i, number in enumerate(declared)}
        self._declared = [(position[number], read) for number, read in self._all]
        self._accepted = {len(position): self._declared, len(signature): self._all}
        self._payload = Payload(kinds)

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
            try:
                payload = self._payload.pack(header, values)
            except struct.error as error:
                raise TypeError(
                    f"kernel {self.name}: an argument is not of the type it was compiled for ({error})"
                ) from None
            counters.count(self.name)
            function.run(payload, stream)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _values(self, arguments: tuple) -> list[Any]:
        plan = self._accepted.get(len(arguments))
        if plan is None:
            fewest, most = min(self._accepted), max(self._accepted)
            raise TypeError(
                f"kernel {self.name} takes {most} arguments, or the {fewest} that are not declared constexpr, "
                f"but {len(arguments)} were given"
            )
        return [read(arguments[i]) for i, read in plan]

    def _address(self, parameter: str, read: Read) -> Read:
        wanted = self._place.type
        on_cpu = wanted == "cpu"

        def address(argument: Any) -> int:
            argument = read(argument)
            if argument is None or type(argument) is int:
                return argument or 0
            if getattr(argument, "is_cpu", on_cpu) is not on_cpu:
                raise ValueError(
                    f"argument '{parameter}' of kernel {self.name} is a tensor on '{argument.device}', whose memory "
                    f"kernels on '{wanted}' do not reach; move it with .to('{wanted}')"
                )
            return argument.data_ptr()

        return address


def _leaves(signature: Sequence[Any], path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], str]]:
    """Where each argument of the compiled kernel lies in the caller's arguments (tuples nest), and its Triton type."""
    for index, kind in enumerate(signature):
        if isinstance(kind, (tuple, list)):
            yield from _leaves(kind, (*path, index))
        elif kind != "constexpr":
            yield (*path, index), kind


def _parts(kind: str) -> list[tuple[str, Read]]:
    """The types that an argument has in the compiled kernel, and how to read each from the caller's.

    Triton takes a tensor descriptor apart into its base, shape, strides, two
    flags, and the shape and strides once more.
    """
    if not kind.startswith("tensordesc"):
        return [(kind, bf16 if kind == "bf16" else _same)]
    element, shape = _DESCRIPTOR.match(kind).groups()
    rank = shape.count(",") + 1
    kinds = [f"*{element}", *["i64"] * (2 * rank), "i1", "i1", *["i32"] * rank, *["i64"] * rank]
    return [(part, lambda descriptor, i=i: _taken_apart(descriptor)[i]) for i, part in enumerate(kinds)]


def _taken_apart(descriptor: Any) -> list[Any]:
    layout = [*descriptor.shape, *descriptor.strides]
    return [descriptor.base, *layout, descriptor.padding == "nan", descriptor.round_f32_to_tf32, *layout]


def _at(path: tuple[int, ...], read: Read) -> Read:
    if not path:
        return read

    def inner(argument: Any) -> Any:
        for index in path:
            argument = argument[index]
        return read(argument)

    return inner


def _same(argument: Any) -> Any:
    return argument
