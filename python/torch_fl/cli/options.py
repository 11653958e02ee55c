"""Options that several commands have."""

from collections.abc import Sequence

import typer


def parse_shard(text: str) -> tuple[int, int]:
    """``2/4``, the second part of four, as (2, 4)."""
    part, _, parts = text.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise typer.BadParameter(f"{text!r} is not a part like 2/4: the second of four")
    return int(part), int(parts)


def parse_fraction(value: float) -> float:
    """More than 0 and at most 1."""
    if not 0 < value <= 1:
        raise typer.BadParameter(f"{value} is not a fraction of the cases; give more than 0 and at most 1")
    return value


def parse_dtypes(text: str, known: Sequence[str]) -> list[str]:
    """Names of dtypes with commas between them, each among the known ones; all of these where the text is empty."""
    wanted = text.split(",") if text else list(known)
    if unknown := [name for name in wanted if name not in known]:
        raise typer.BadParameter(f"--dtype {','.join(unknown)}: not among {', '.join(known)}")
    return wanted
