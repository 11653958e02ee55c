"""The routing language: text to entries.

    file      := (line? comment? NEWLINE)*
    line      := "include" PATH | operator "=" chain
    chain     := step ("," step)*
    step      := backend ("[" condition ("," condition)* "]")?
    condition := subject ("=" | "!=" | "<" | "<=" | ">" | ">=") value ("|" value)*

A ``#`` starts a comment anywhere.  The parser knows no operator and no
backend: :mod:`torch_fl.routing.table` gives the words their meaning.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from .errors import Location, RoutingError

MAX_INCLUDE_DEPTH = 8

_TOKEN = re.compile(r"(?P<space>\s+)|(?P<word>[\w.+-]+)|(?P<operator>!=|<=|>=|[=<>])|(?P<mark>[\[\],|])")
_OPERATOR_NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)?")
_INCLUDE = re.compile(r"include\s+(?!=)(?P<path>.+)")


class Condition(NamedTuple):
    """When a step applies: `subject` compared with any of `values`."""

    subject: str
    relation: str
    values: tuple[str, ...]


class Step(NamedTuple):
    """One backend of a chain, and the conditions under which it is asked."""

    backend: str
    conditions: tuple[Condition, ...]
    location: Location


class Entry(NamedTuple):
    """``operator = step, step``."""

    operator: str
    chain: tuple[Step, ...]
    location: Location


def parse_file(path: str | Path, label: str | None = None) -> list[Entry]:
    """Entries of a routing file and of the files it includes, in reading order.

    Args:
        path: the file.
        label: what messages call it; the path as given where None.

    Raises:
        RoutingError: an unreadable file, a syntax error, an operator set twice,
            a cycle of includes, or more than eight files deep.
    """
    path = Path(path)
    first: dict[str, Location] = {}
    entries = []
    for entry in _read(path, label or str(path), Location(label or str(path)), ()):
        if entry.operator in first:
            raise RoutingError(
                entry.location, f"'{entry.operator}' is already set at {first[entry.operator]}; keep one of the two"
            )
        first[entry.operator] = entry.location
        entries.append(entry)
    return entries


def parse_chain(text: str, location: Location) -> tuple[Step, ...]:
    """The chain written in `text`, which stands at `location`."""
    return _Line(text, location, 0).chain()


def _read(path: Path, label: str, asked_at: Location, open_files: tuple[Path, ...]) -> Iterator[Entry]:
    real = path.resolve()
    if real in open_files:
        raise RoutingError(asked_at, f"'{label}' includes itself; remove one include of the cycle")
    if len(open_files) >= MAX_INCLUDE_DEPTH:
        raise RoutingError(asked_at, f"'{label}' is included more than {MAX_INCLUDE_DEPTH} files deep")
    for number, line in enumerate(_text(path, label, asked_at).splitlines(), start=1):
        code = line.split("#", 1)[0].rstrip()
        column = len(code) - len(code.lstrip())
        if column == len(code):
            continue
        include = _INCLUDE.match(code, column)
        if include:
            location = Location(label, number, include.start("path") + 1)
            target = include["path"].strip()
            name = str(Path(label).parent / target)
            yield from _read(path.parent / target, name, location, (*open_files, real))
        else:
            yield _Line(code, Location(label, number), column).entry()


def _text(path: Path, label: str, asked_at: Location) -> str:
    subject = f"the included file '{label}'" if asked_at.line else "the routing file"
    try:
        return path.read_text(encoding="utf-8-sig")
    except IsADirectoryError:
        problem = "is a directory; name a file"
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 text (byte {error.start})"
    except OSError as error:
        problem = f"cannot be read: {(error.strerror or str(error)).lower()}"
    raise RoutingError(asked_at, f"{subject} {problem}")


class _Line:
    """Recursive descent over the tokens of one line."""

    def __init__(self, text: str, location: Location, start: int) -> None:
        self.location = location
        self.tokens: list[tuple[str, str, int]] = []  # kind, text, offset
        position = start
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                self.fail(f"unexpected character {text[position]!r}", position)
            if match.lastgroup != "space":
                self.tokens.append((match.lastgroup or "", match[0], position))
            position = match.end()
        self.tokens.append(("end", "the end of the line", len(text)))
        self.next = 0

    def at(self, offset: int) -> Location:
        return self.location._replace(column=offset + 1) if self.location.line else self.location

    def fail(self, problem: str, offset: int) -> NoReturn:
        raise RoutingError(self.at(offset), problem)

    def take(self, kind: str, wanted: str, text: str | None = None) -> tuple[str, int]:
        found, value, offset = self.tokens[self.next]
        if found != kind or (text is not None and value != text):
            self.fail(f"expected {wanted}, found {value if found == 'end' else repr(value)}", offset)
        self.next += 1
        return value, offset

    def accept(self, text: str) -> bool:
        if self.tokens[self.next][1] != text:
            return False
        self.next += 1
        return True

    def entry(self) -> Entry:
        name, offset = self.take("word", "an operator name such as add.Tensor")
        if not _OPERATOR_NAME.fullmatch(name):
            self.fail(f"'{name}' is not the form of an operator name; write it like add.Tensor", offset)
        self.take("operator", f"'=' and a backend after '{name}'", "=")
        return Entry(name, self.chain(), self.at(offset))

    def chain(self) -> tuple[Step, ...]:
        steps = [self.step()]
        while self.accept(","):
            steps.append(self.step())
        self.take("end", "',' or the end of the line")
        return tuple(steps)

    def step(self) -> Step:
        backend, offset = self.take("word", "a backend")
        conditions = []
        if self.accept("["):
            conditions.append(self.condition())
            while self.accept(","):
                conditions.append(self.condition())
            self.take("mark", "',' or ']'", "]")
        return Step(backend, tuple(conditions), self.at(offset))

    def condition(self) -> Condition:
        subject, _ = self.take("word", "what to compare, such as dtype")
        relation, _ = self.take("operator", f"a comparison after '{subject}'")
        values = [self.take("word", "a value")[0]]
        while self.accept("|"):
            values.append(self.take("word", "a value")[0])
        return Condition(subject, relation, tuple(values))
