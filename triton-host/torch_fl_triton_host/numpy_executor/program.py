"""A function of Triton IR made ready to be run for one program of the grid after the other.

Each SSA value has a place in a frame (a list).  Each operation becomes a function of the frame, so that running a
program is calling these in turn; regions are lists of such functions.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from torch_fl_triton_host.numpy_executor import combining
from torch_fl_triton_host.numpy_executor.registry import PREPARE
from torch_fl_triton_host.ttir.ir import Block, Function, Module, Operation, Region, Value

for _table in ("conversions", "floats", "integers", "mathematics", "memory", "messages", "shapes"):
    import_module(f"{__package__}.{_table}")  # for its entries in PREPARE

Frame = list[Any]
Step = Callable[[Frame], None]
_CONTEXT = 7  #: the first places of a frame: program ids along three axes, the size of the grid, and, at _OFFSET:
_OFFSET = 6  #: what is added to an address to reach the byte
_ACCESSES = ("tt.load", "tt.store", "tt.atomic_rmw", "tt.atomic_cas")  # their first operand is the address


class Code:
    """One function of a module."""

    def __init__(self, function: Function, module: Module, done: dict[str, "Code"] | None = None) -> None:
        self._module = module
        self._codes = {} if done is None else done
        self._codes[function.name] = self
        self._places: dict[Value, int] = {}
        self._arguments = [self._place(value) for value in function.arguments]
        self._blocks = {id(block): self._block(block) for block in function.body.blocks}
        self._first = function.body.blocks[0]

    def run(self, context: Sequence[Any], arguments: list[Any]) -> list[Any]:
        """Run one program and return its results.

        `context` is its three ids and the three sizes of the grid, as numpy
        int32, and the address offset in bytes as uint64.
        """
        frame: Frame = [*context, *([None] * len(self._places))]
        for place, argument in zip(self._arguments, arguments, strict=True):
            frame[place] = argument
        block = self._first
        while True:
            for step in self._blocks[id(block)]:
                step(frame)
            end = block.terminator
            if not end.successors:
                return [frame[self._places[value]] for value in end.operands]
            taken = end.successors[0]
            if len(end.successors) == 2 and not frame[self._places[end.operands[0]]]:
                taken = end.successors[1]
            values = [frame[self._places[value]] for value in taken.arguments]
            for argument, value in zip(taken.block.arguments, values, strict=True):
                frame[self._places[argument]] = value
            block = taken.block

    def _place(self, value: Value) -> int:
        return self._places.setdefault(value, _CONTEXT + len(self._places))

    def _block(self, block: Block) -> list[Step]:
        for argument in block.arguments:
            self._place(argument)
        return [self._step(op) for op in block.operations[:-1]]

    def _step(self, op: Operation) -> Step:
        prepare = getattr(self, "_" + op.name.replace(".", "_"), None)
        if prepare is not None:
            return prepare(op)
        if op.name not in PREPARE:
            raise NotImplementedError(
                f"the operation '{op.name}' (line {op.line} of its Triton IR) is not one that numpy runs"
            )
        compute = PREPARE[op.name](op)
        inputs = [self._place(value) for value in op.operands]
        outputs = [self._place(value) for value in op.results]
        if op.name in _ACCESSES:
            return self._access(compute, inputs, outputs)
        if len(outputs) == 1:
            (output,) = outputs

            def one(frame: Frame) -> None:
                frame[output] = compute(*[frame[i] for i in inputs])

            return one

        def several(frame: Frame) -> None:
            results = compute(*[frame[i] for i in inputs])
            for output, result in zip(outputs, results or (), strict=True):
                frame[output] = result

        return several

    @staticmethod
    def _access(compute: Callable[..., Any], inputs: list[int], outputs: list[int]) -> Step:
        address, *others = inputs

        def step(frame: Frame) -> None:
            result = compute(np.add(frame[address], frame[_OFFSET]), *[frame[i] for i in others])
            for output in outputs:
                frame[output] = result

        return step

    def _region(self, region: Region) -> tuple[list[int], list[Step], list[int]]:
        """Places of the arguments of a region of one block, its steps, and the places of what it yields."""
        (block,) = region.blocks
        steps = self._block(block)
        return [self._place(v) for v in block.arguments], steps, [self._place(v) for v in block.terminator.operands]

    def _grid_entry(self, op: Operation, first: int) -> Step:
        source, target = first + "xyz".index(op.attributes["axis"]), self._place(op.results[0])

        def step(frame: Frame) -> None:
            frame[target] = frame[source]

        return step

    def _tt_get_program_id(self, op: Operation) -> Step:
        return self._grid_entry(op, 0)

    def _tt_get_num_programs(self, op: Operation) -> Step:
        return self._grid_entry(op, 3)

    def _tt_call(self, op: Operation) -> Step:
        callee = op.attributes["callee"]
        code = self._codes.get(callee) or Code(self._module.function(callee), self._module, self._codes)
        inputs = [self._place(value) for value in op.operands]
        outputs = [self._place(value) for value in op.results]
        return lambda frame: _assign(frame, outputs, code.run(frame[:_CONTEXT], [frame[i] for i in inputs]))

    def _scf_if(self, op: Operation) -> Step:
        condition = self._place(op.operands[0])
        then, otherwise = (self._region(region) if region.blocks else ([], [], []) for region in op.regions)
        outputs = [self._place(value) for value in op.results]

        def step(frame: Frame) -> None:
            _, steps, yielded = then if frame[condition] else otherwise
            for inner in steps:
                inner(frame)
            _assign(frame, outputs, [frame[i] for i in yielded])

        return step

    def _scf_for(self, op: Operation) -> Step:
        first, limit, stride, *initial = (self._place(value) for value in op.operands)
        (variable, *carried), steps, yielded = self._region(op.regions[0])
        outputs = [self._place(value) for value in op.results]
        bits = op.operands[0].type.bits if op.attributes.get("unsigned") else 0

        def step(frame: Frame) -> None:
            start, stop, by = (int(frame[i]) % (1 << bits) if bits else int(frame[i]) for i in (first, limit, stride))
            kind = np.asarray(frame[first]).dtype.type
            _assign(frame, carried, [frame[i] for i in initial])
            for value in range(start, stop, by):
                frame[variable] = kind(value)
                for inner in steps:
                    inner(frame)
                _assign(frame, carried, [frame[i] for i in yielded])
            _assign(frame, outputs, [frame[i] for i in carried])

        return step

    def _scf_while(self, op: Operation) -> Step:
        initial = [self._place(value) for value in op.operands]
        before, test_steps, (condition, *passed) = self._region(op.regions[0])
        after, body_steps, yielded = self._region(op.regions[1])
        outputs = [self._place(value) for value in op.results]

        def step(frame: Frame) -> None:
            _assign(frame, before, [frame[i] for i in initial])
            while True:
                for inner in test_steps:
                    inner(frame)
                values = [frame[i] for i in passed]
                if not frame[condition]:
                    return _assign(frame, outputs, values)
                _assign(frame, after, values)
                for inner in body_steps:
                    inner(frame)
                _assign(frame, before, [frame[i] for i in yielded])

        return step

    def _combine(self, op: Operation) -> Callable[[Frame], combining.Combine]:
        """The region of a reduction or scan as a function of arrays.

        Code that branches is run for each element, since one condition cannot hold for a whole array.
        """
        arguments, steps, yielded = self._region(op.regions[0])
        branches = any(inner.regions for inner in op.regions[0].walk())

        def bind(frame: Frame) -> combining.Combine:
            def scalars(left: list[Any], right: list[Any]) -> list[Any]:
                _assign(frame, arguments, [*left, *right])
                for inner in steps:
                    inner(frame)
                return [frame[i] for i in yielded]

            def elements(left: list[Any], right: list[Any]) -> list[Any]:
                results = [np.empty_like(part) for part in left]
                for index in np.ndindex(np.shape(left[0])):
                    found = scalars([part[index] for part in left], [part[index] for part in right])
                    for result, value in zip(results, found, strict=True):
                        result[index] = value
                return results

            return elements if branches else scalars

        return bind

    def _tt_reduce(self, op: Operation) -> Step:
        return self._collect(op, lambda tensors, combine: combining.reduce(tensors, op.attributes["axis"], combine))

    def _tt_scan(self, op: Operation) -> Step:
        axis, reverse = op.attributes["axis"], bool(op.attributes.get("reverse"))
        return self._collect(op, lambda tensors, combine: combining.scan(tensors, axis, reverse, combine))

    def _collect(self, op: Operation, collect: Callable[[list[Any], combining.Combine], list[Any]]) -> Step:
        bind = self._combine(op)
        inputs = [self._place(value) for value in op.operands]
        outputs = [self._place(value) for value in op.results]
        return lambda frame: _assign(frame, outputs, collect([frame[i] for i in inputs], bind(frame)))


def _assign(frame: Frame, places: list[int], values: list[Any]) -> None:
    for place, value in zip(places, values, strict=True):
        frame[place] = value
