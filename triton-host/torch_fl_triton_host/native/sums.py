"""Numbers as sums, which is how addresses are compared with loops."""

from __future__ import annotations

from dataclasses import dataclass, field

#: A product: a number and a C expression, which may be empty.
Factor = tuple[int, str]


@dataclass
class Sum:
    """A number as a sum: loop variables times factors, and terms (C expressions) with the depth at which they are known."""

    factors: dict[int, list[Factor]] = field(default_factory=dict)
    terms: list[tuple[str, int]] = field(default_factory=list)

    def add(self, other: Sum, scale: Factor = (1, "")) -> None:
        """Adds ``other`` times ``scale``, which no loop changes."""
        count, text = scale
        for loop, factors in other.factors.items():
            mine = self.factors.setdefault(loop, [])
            mine.extend(
                (number * count, " * ".join(part for part in (symbol, text) if part)) for number, symbol in factors
            )
        self.terms.extend((times(term, scale), depth) for term, depth in other.terms)

    def whole(self, loop: int) -> int | None:
        """The factor of a loop variable if it is a known number."""
        factors = self.factors.get(loop, [])
        return None if any(symbol for _, symbol in factors) else sum(number for number, _ in factors)


def times(text: str, scale: Factor) -> str:
    number, symbol = scale
    if text.lstrip("-").isdigit():
        number, text = number * int(text), ""
        if not symbol or number == 0:
            return str(number)
    parts = [f"({text})"] if text else []
    if symbol:
        parts.append(symbol)
    if number != 1:
        parts.append(f"({number})")
    return " * ".join(parts) if len(parts) > 1 or text != parts[0][1:-1] else text
