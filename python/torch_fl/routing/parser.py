"""The routing language: text to entries.

    file      := (line? comment? NEWLINE)*
    line      := "include" PATH | operator "=" chain
    chain     := step ("," step)*
    step      := backend ("[" condition ("," condition)* "]")?
    condition := subject ("=" | "!=" | "<" | "<=" | ">" | ">=") value ("|" value)*

A ``#`` starts a comment anywhere.  The parser knows no operator and no
backend: :mod:`torch_fl.routing.chain` gives the words their meaning.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from .errors import Location, Report, RoutingError, stop

MAX_INCLUDE_DEPTH = 8
SHIPPED = Path(__file__).parents[1] / "configs"  #: where an included file is looked for when it is not beside the file

_TOKEN = re.compile(r"(?P<space>\s+)|(?P<word>[\w.+-]+)|(?P<operator>!=|<=|>=|[=<>])|(?P<mark>[\[\],|])")
_OPERATOR_NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)?")
_INCLUDE = re.compile(r"include\s+(?!=)(?P<path>.+)")


class Word(str):
    """A word of a file, and where it stands."""

    location: Location

    def __new__(cls, text: str, location: Location) -> "Word":
        word = super().__new__(cls, text)
        word.location = location
        return word


class Condition(NamedTuple):
    """When a step applies: `subject` compared with any of `values`."""

    subject: str
    relation: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.subject}{self.relation}{'|'.join(self.values)}"


class Step(NamedTuple):
    """One backend of a chain, and the conditions under which it is asked."""

    backend: str
    conditions: tuple[Condition, ...]
    location: Location


class Entry(NamedTuple):
    """``operator = step, step  # comment``."""

    operator: str
    chain: tuple[Step, ...]
    location: Location
    comment: str = ""


def parse_file(path: str | Path, label: str | None = None, report: Report = stop) -> list[Entry]:
    """Entries of a routing file and of the files it includes, in reading order.

    Args:
        path: the file.
        label: what messages call it; the path as given where None.
        report: gets each error; where it returns, the line in question is left out.

    Raises:
        RoutingError: an unreadable file, a syntax error, an operator set twice,
            a cycle of includes, or more than eight files deep.
    """
    label = label or str(path)
    first: dict[str, Location] = {}
    entries = []
    for entry in _read(Path(path), label, Location(label), (), report):
        if (before := first.setdefault(entry.operator, entry.location)) is not entry.location:
            report(RoutingError(entry.location, f"'{entry.operator}' is already set at {before}; keep one of the two"))
        else:
            entries.append(entry)
    return entries


def parse_chain(text: str, location: Location) -> tuple[Step, ...]:
    """The chain written in `text`, which stands at `location`."""
    return _Line(text, location, 0).chain()


def _read(path: Path, label: str, asked_at: Location, open_files: tuple[Path, ...], report: Report) -> Iterator[Entry]:
    real = path.resolve()
    try:
        if real in open_files:
            raise RoutingError(asked_at, f"'{label}' includes itself; remove one include of the cycle")
        if len(open_files) >= MAX_INCLUDE_DEPTH:
            raise RoutingError(asked_at, f"'{label}' is included more than {MAX_INCLUDE_DEPTH} files deep")
        text = _text(path, label, asked_at)
    except RoutingError as error:
        report(error)
        return
    for number, line in enumerate(text.splitlines(), start=1):
        code, _, comment = line.partition("#")
        code = code.rstrip()
        column = len(code) - len(code.lstrip())
        if column == len(code):
            continue
        if include := _INCLUDE.match(code, column):
            location = Location(label, number, include.start("path") + 1)
            yield from _included(path, label, include["path"].strip(), location, (*open_files, real), report)
            continue
        try:
            entry = _Line(code, Location(label, number), column).entry()
        except RoutingError as error:
            report(error)
        else:
            yield entry._replace(comment=comment.strip())


def _included(
    path: Path, label: str, target: str, location: Location, open_files: tuple[Path, ...], report: Report
) -> Iterator[Entry]:
    beside, shipped = path.parent / target, SHIPPED / target
    if not beside.exists() and shipped.is_file():
        return _read(shipped, target, location, open_files, report)
    return _read(beside, str(Path(label).parent / target), location, open_files, report)


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
        self.tokens: list[tuple[str, Word]] = []  # kind, text
        position = start
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise RoutingError(self.at(position), f"unexpected character {text[position]!r}")
            if match.lastgroup != "space":
                self.tokens.append((match.lastgroup or "", Word(match[0], self.at(position))))
            position = match.end()
        self.tokens.append(("end", Word("the end of the line", self.at(len(text)))))
        self.next = 0

    def at(self, offset: int) -> Location:
        return self.location._replace(column=offset + 1) if self.location.line else self.location

    def fail(self, problem: str, word: Word) -> NoReturn:
        raise RoutingError(word.location, problem)

    def take(self, kind: str, wanted: str, text: str | None = None) -> Word:
        found, word = self.tokens[self.next]
        if found != kind or (text is not None and word != text):
            self.fail(f"expected {wanted}, found {word if found == 'end' else repr(str(word))}", word)
        self.next += 1
        return word

    def accept(self, text: str) -> bool:
        if self.tokens[self.next][1] != text:
            return False
        self.next += 1
        return True

    def entry(self) -> Entry:
        name = self.take("word", "an operator name such as add.Tensor")
        if not _OPERATOR_NAME.fullmatch(name):
            self.fail(f"'{name}' is not the form of an operator name; write it like add.Tensor", name)
        self.take("operator", f"'=' and a backend after '{name}'", "=")
        return Entry(str(name), self.chain(), name.location)

    def chain(self) -> tuple[Step, ...]:
        steps = [self.step()]
        while self.accept(","):
            steps.append(self.step())
        self.take("end", "',' or the end of the line")
        return tuple(steps)

    def step(self) -> Step:
        backend = self.take("word", "a backend")
        conditions = []
        if self.accept("["):
            conditions.append(self.condition())
            while self.accept(","):
                conditions.append(self.condition())
            self.take("mark", "',' or ']'", "]")
        return Step(backend, tuple(conditions), backend.location)

    def condition(self) -> Condition:
        subject = self.take("word", "what to compare, such as dtype")
        relation = self.take("operator", f"a comparison after '{subject}'")
        values = [self.take("word", "a value")]
        while self.accept("|"):
            values.append(self.take("word", "a value"))
        return Condition(subject, relation, tuple(values))
