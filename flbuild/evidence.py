"""What the support table reads of a file of evidence, which `torch-fl test` or a carried archive has written."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

SCHEMA = 1
# Words of a command that leaves tests out: of a carried archive, and of `torch-fl test`, which names the files.
PART = re.compile(r"--(subset|only)\b|torch_fl_tests(_\w+)?\.")


class _Counts(BaseModel):
    passed: int
    failed: int
    error: int


class _Document(BaseModel):
    schema_: int
    platform: str
    emulated: bool
    devices: list[dict]
    command: list[str]
    counts: _Counts


@dataclass(frozen=True)
class Run:
    """One run on cards."""

    passed: int
    ran: int

    @property
    def status(self) -> str:
        """The word for the table: only a run without a failure makes a platform stable."""
        if self.passed == self.ran:
            return "Stable"
        return f"{1000 * self.passed // self.ran / 10}% of {self.ran:,} tests pass"  # rounded down: 100% would mean all


def read(path: Path, platform: str) -> Run:
    """What a file proves about a platform.

    Raises:
        ValueError: it is no evidence, or of something else; the sentence says why.
    """
    try:
        said = json.loads(path.read_text("utf-8"))
        document = _Document.model_validate(said | {"schema_": said.get("schema")})
    except (ValueError, TypeError, AttributeError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": str(error)}
        key = ".".join(map(str, first["loc"])).replace("schema_", "schema")
        raise ValueError(f"{path.name} is no file of evidence ({key + ': ' if key else ''}{first['msg']}): write one with torch-fl test") from None
    if document.schema_ != SCHEMA:
        raise ValueError(f"{path.name} has schema {document.schema_} and {SCHEMA} is known: write it anew with torch-fl test")
    if document.platform != platform:
        raise ValueError(f"{path.name} is of platform {document.platform}: put it into that one's folder")
    if document.emulated or not document.devices:
        raise ValueError(f"{path.name} is of no card but of emulated devices, which prove nothing: remove the entry")
    if part := next(filter(PART.match, document.command), None):
        raise ValueError(f"{path.name} is of a run of a part ({part}): run the whole suite")
    counts = document.counts
    ran = counts.passed + counts.failed + counts.error
    if not ran:
        raise ValueError(f"{path.name}: no test ran: remove the entry")
    return Run(counts.passed, ran)
