"""The model of a Triton IR module: the nouns of MLIR (operation, value, block, region), nothing else.

Values and blocks are compared by identity; types are plain data. Locations are not kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

#: Bits of each scalar element. An ``index`` and a pointer have the 64 bits of the host.
BITS = {
    "i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64, "ptr": 64,
    "f8E5M2": 8, "f8E4M3FN": 8, "f8E4M3FNUZ": 8, "f8E5M2FNUZ": 8, "f8E4M3B11FNUZ": 8,
    "bf16": 16, "f16": 16, "f32": 32, "f64": 64,
}  # fmt: skip


@dataclass(frozen=True)
class Type:
    """A scalar (``shape`` is ``()``) or a ranked tensor of ``element``, one of :data:`BITS`.

    ``pointee`` is what an element ``"ptr"`` points to. ``ranked`` tells a tensor of rank 0 from a scalar.
    """

    element: str
    shape: tuple[int, ...] = ()
    pointee: Type | None = None
    ranked: bool = False

    @property
    def bits(self) -> int:
        """Width of one element in bits."""
        return BITS[self.element]

    @property
    def bytes(self) -> int:
        """Bytes that one element takes in memory: an ``i1`` takes one."""
        return max(self.bits // 8, 1)

    @property
    def size(self) -> int:
        """Number of elements; 1 for a scalar."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def is_float(self) -> bool:
        return self.element[0] in "fb"

    @property
    def is_integer(self) -> bool:
        """True for i1 ... i64 and ``index``."""
        return self.element[0] == "i"

    @property
    def is_pointer(self) -> bool:
        return self.element == "ptr"

    @property
    def scalar(self) -> Type:
        """The type of one element."""
        return Type(self.element, (), self.pointee) if self.shape or self.ranked else self

    def __str__(self) -> str:
        element = f"!tt.ptr<{self.pointee}>" if self.is_pointer else self.element
        return f"tensor<{''.join(f'{n}x' for n in self.shape)}{element}>" if self.shape or self.ranked else element


@dataclass(frozen=True)
class Dense:
    """A constant tensor: one value for all elements (``splat``) or all of them, flat and in row-major order.

    Elements are ``bool`` for i1, ``int`` (signed) for integers, ``float`` for floating point: exact, since every
    format here is a subset of float64.
    """

    values: tuple[Any, ...]
    splat: bool


@dataclass(eq=False)
class Value:
    """The result of an operation or the argument of a block. ``name`` is the text's, unique in a function."""

    type: Type
    name: str = ""

    def __repr__(self) -> str:
        return f"%{self.name}: {self.type}"


@dataclass(eq=False)
class Successor:
    """A block that a terminator may go to, and the values that it gives to the block's arguments."""

    block: Block
    arguments: list[Value] = field(default_factory=list)


@dataclass(eq=False)
class Operation:
    """One operation, named with its dialect (``"arith.addi"``).

    ``attributes`` hold Python values: ``bool``, ``int``, ``float``, ``str`` (also for keywords such as a predicate),
    ``list``, :class:`Dense`, :class:`Type`. ``line`` is the text's, for messages.

    A form in which operands are optional keeps their count apart where order alone does not tell: ``tt.dot_scaled``
    says with the attributes ``has_a_scale`` and ``has_b_scale`` which operands are there.
    """

    name: str
    operands: list[Value]
    results: list[Value]
    attributes: dict[str, Any] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)
    successors: list[Successor] = field(default_factory=list)
    line: int = 0

    def walk(self) -> Iterator[Operation]:
        """This operation and then those inside its regions, in the order of the text."""
        yield self
        for region in self.regions:
            yield from region.walk()


@dataclass(eq=False)
class Block:
    arguments: list[Value] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)

    @property
    def terminator(self) -> Operation:
        return self.operations[-1]


@dataclass(eq=False)
class Region:
    """Blocks; the first one is the entry. An absent ``else`` is a region without blocks."""

    blocks: list[Block] = field(default_factory=list)

    def walk(self) -> Iterator[Operation]:
        for block in self.blocks:
            for operation in block.operations:
                yield from operation.walk()


@dataclass(eq=False)
class Function:
    """A function: ``arguments`` are the arguments of the body's first block.

    ``argument_attributes`` has one dictionary for each argument (``{"tt.divisibility": 16}``: bytes for a pointer,
    a divisor for an integer).
    """

    name: str
    arguments: list[Value]
    body: Region
    results: list[Type] = field(default_factory=list)
    argument_attributes: list[dict[str, Any]] = field(default_factory=list)
    public: bool = True


@dataclass(eq=False)
class Module:
    functions: list[Function]

    @property
    def kernel(self) -> Function:
        """The public function, which is the kernel; others are its callees.

        :raises ValueError: if there is not exactly one.
        """
        public = [function for function in self.functions if function.public]
        if len(public) != 1:
            raise ValueError(f"a kernel module has one public function, this one has {[f.name for f in public]}")
        return public[0]

    def function(self, name: str) -> Function:
        """:raises ValueError: if there is none of that name."""
        for function in self.functions:
            if function.name == name:
                return function
        raise ValueError(f"no function '{name}' in this module")
