"""Tokens of MLIR's textual form, read on demand.

On demand because the dimensions of a tensor (``128x64xf32``) are tokens of another kind, which only the reader of a
type knows to expect.
"""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"""(?:\s|//[^\n]*)*(?:
      (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<value>%[\w$.\-]+(?:\#\d+)?)
    | (?P<block>\^[\w$.\-]+)
    | (?P<symbol>@(?:[\w$.\-]+|"(?:[^"\\]|\\.)*"))
    | (?P<alias>\#[\w$.\-]+)
    | (?P<type>![\w$.]+)
    | (?P<number>-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?))
    | (?P<word>[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)*)
    | (?P<mark>->|::|[(){}\[\]<>=:,*?+\-])
    | (?P<end>$))""",
    re.VERBOSE,
)
DIMENSIONS = re.compile(r"\s*((?:\d+\s*x\s*)*)")
ESCAPE = re.compile(r'\\([0-9A-Fa-f]{2}|[nt"\\])')
ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


class ParseError(ValueError):
    """The text is not Triton IR as this reader knows it; the message names the line."""


class Lexer:
    """A cursor over ``text``: ``kind`` and ``text`` of the next token, and what moves past it."""

    def __init__(self, source: str):
        self.source = source
        self.position = 0
        self.advance()

    def advance(self) -> None:
        match = TOKEN.match(self.source, self.position)
        if match is None:
            self.start = self.position
            raise self.error(f"unexpected character {self.source[self.position :].lstrip()[:1]!r}")
        self.kind = match.lastgroup
        self.text = match[self.kind]
        self.start = match.start(self.kind)
        self.position = match.end()

    @property
    def line(self) -> int:
        """Line of the next token, from 1."""
        return self.source.count("\n", 0, self.start) + 1

    def error(self, message: str) -> ParseError:
        line = self.line
        text = [*self.source.splitlines(), ""][line - 1].strip()[:160]
        return ParseError(f"line {line}: {message}" + (f", in: {text}" if text else ""))

    def unexpected(self, wanted: str) -> ParseError:
        return self.error(
            f"expected {wanted}, found {self.text!r}"
            if self.kind != "end"
            else f"expected {wanted}, found the end of the text"
        )

    def at(self, text: str) -> bool:
        """True if the next token is this mark or word."""
        return self.text == text and self.kind in ("mark", "word")

    def accept(self, text: str) -> bool:
        """Moves past the next token if it is this mark or word."""
        if self.at(text):
            self.advance()
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.unexpected(f"'{text}'")

    def take(self, kind: str, wanted: str) -> str:
        """The text of the next token, which must be of this kind."""
        if self.kind != kind:
            raise self.unexpected(wanted)
        text = self.text
        self.advance()
        return text

    def take_string(self) -> str:
        return unescape(self.take("string", "a string"))

    def take_integer(self) -> int:
        text = self.take("number", "an integer")
        try:
            return int(text, 0)
        except ValueError:
            raise self.error(f"expected an integer, found {text!r}") from None

    def take_dimensions(self) -> tuple[int, ...]:
        """The extents in front of a tensor's element type; may be none."""
        match = DIMENSIONS.match(self.source, self.start)
        self.position = match.end()
        self.advance()
        return tuple(int(extent) for extent in match[1].replace("x", " ").split())


def unescape(text: str) -> str:
    """The content of a quoted string; MLIR writes other bytes as two hexadecimal digits."""
    content = text[1:-1]
    if "\\" not in content:
        return content
    latin = ESCAPE.sub(lambda m: ESCAPED.get(m[1]) or chr(int(m[1], 16)), content)
    try:
        return latin.encode("latin-1").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return latin
