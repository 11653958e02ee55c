"""Indices of tensors as bits of one loop variable.

Every extent in Triton IR is a power of two. A group of operations runs over the elements of one shape, whose row-major number
has ``n`` bits; an index into any tensor met there is, for each dimension, a row of those bits. Broadcasting drops bits,
transposing permutes them, reshaping cuts the row anew. So every index is known exactly, and loops are chosen afterwards: the
bits are cut where some index needs it, and each piece becomes a loop.
"""

from __future__ import annotations

from ..ttir.ir import Type
from .unsupported import Unsupported

#: Bits that are the same for all elements.
ZERO, ONE = -1, -2

#: Bits of a number, the lowest first: positions in the group's row-major number, or ZERO or ONE.
Bits = tuple[int, ...]
#: One number for each dimension.
Index = tuple[Bits, ...]


def width(extent: int) -> int:
    """Bits of a dimension.

    :raises Unsupported: if the extent is not a power of two.
    """
    if extent <= 0 or extent & (extent - 1):
        raise Unsupported(f"an extent of {extent}, which is no power of two")
    return extent.bit_length() - 1


def split(bits: Bits, shape: tuple[int, ...]) -> Index:
    """The row-major number ``bits`` as an index into ``shape``."""
    index: list[Bits] = []
    for extent in reversed(shape):
        count = width(extent)
        index.append(bits[:count])
        bits = bits[count:]
    return tuple(reversed(index))


def join(index: Index) -> Bits:
    """The row-major number of an index."""
    return tuple(bit for number in reversed(index) for bit in number)


def whole(kind: Type) -> Index:
    """The index of each element of a tensor in a group over its own shape."""
    return split(tuple(range(width(kind.size))), kind.shape)


def cuts(bits: Bits) -> set[int]:
    """Positions between bits at which a loop must end so that ``bits`` is a sum of loop variables times constants."""
    found = set()
    for previous, bit, following in zip((None, *bits), bits, (*bits[1:], None), strict=False):
        if bit < 0:
            continue
        if previous is None or previous != bit - 1:
            found.add(bit)
        if following is None or following != bit + 1:
            found.add(bit + 1)
    return found
