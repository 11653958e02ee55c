"""The table of ``torch.flagos.memory_summary``; apart, because only it needs a table printer."""

import io
from typing import Any

from rich.console import Console
from rich.table import Table

_ROWS = (
    ("allocated_bytes", "Allocated memory"),
    ("active_bytes", "Active memory"),
    ("requested_bytes", "Requested memory"),
    ("reserved_bytes", "Reserved memory"),
    ("inactive_split_bytes", "Non-releasable memory"),
    ("allocation", "Allocations"),
    ("active", "Active allocations"),
    ("segment", "Reserved segments"),
    ("inactive_split", "Non-releasable blocks"),
)
_POOLS = (("all", ""), ("large_pool", "  from large pool"), ("small_pool", "  from small pool"))
_METRICS = (("current", "now"), ("peak", "peak"), ("allocated", "total allocated"), ("freed", "total freed"))


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def table(index: int, stats: dict[str, Any], abbreviated: bool) -> str:
    """`stats` (nested, bytes and counts) of device `index` as text."""
    title = f"flagos:{index}: {stats.get('num_ooms', 0)} out of memory, {stats.get('num_alloc_retries', 0)} retries"
    grid = Table("", title=title)
    for _, heading in _METRICS:
        grid.add_column(heading, justify="right")
    for key, label in _ROWS:
        for pool, suffix in _POOLS[: 1 if abbreviated else None]:
            numbers = stats.get(key, {}).get(pool, {})
            show = _size if key.endswith("bytes") else str
            grid.add_row(suffix or label, *(show(numbers.get(metric, 0)) for metric, _ in _METRICS))
    text = io.StringIO()
    Console(file=text, width=100, color_system=None).print(grid)
    return text.getvalue()
