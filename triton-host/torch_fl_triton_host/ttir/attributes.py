"""Reading types and attributes, among them constants, from the tokens of a text."""

from __future__ import annotations

import re
import struct
from typing import Any

from .ir import BITS, Dense, Type
from .lexer import Lexer

INTEGER = re.compile(r"[su]?i(1|8|16|32|64)$")
FORMATS = {"f16": ("H", "e"), "f32": ("I", "f"), "f64": ("Q", "d")}
#: exponent bits, mantissa bits, bias, whether it has infinities: of the 8-bit formats (OCP 8-bit floating point, and
#: the FNUZ kinds of the paper by Noune and others, in which the pattern 0x80 is the only NaN).
FP8 = {
    "f8E5M2": (5, 2, 15, "ieee"), "f8E4M3FN": (4, 3, 7, "fn"), "f8E4M3FNUZ": (4, 3, 8, "fnuz"),
    "f8E5M2FNUZ": (5, 2, 16, "fnuz"), "f8E4M3B11FNUZ": (4, 3, 11, "fnuz"),
}  # fmt: skip


def read_type(lexer: Lexer) -> Type:
    """A scalar, pointer or ranked tensor type; a tensor's encoding is passed over."""
    if lexer.kind == "type":
        name = lexer.text
        if name != "!tt.ptr":
            raise lexer.error(
                f"type {name} is not one that the host executes: the passes to TTIR take descriptors apart"
            )
        lexer.advance()
        lexer.expect("<")
        pointee = read_type(lexer)
        if lexer.accept(","):
            lexer.take_integer()
        lexer.expect(">")
        return Type("ptr", (), pointee)
    word = lexer.text
    if lexer.kind != "word":
        raise lexer.unexpected("a type")
    if word == "tensor":
        lexer.advance()
        if not lexer.at("<"):
            raise lexer.unexpected("'<'")
        lexer.start = lexer.position
        shape = lexer.take_dimensions()
        element = read_type(lexer)
        if lexer.accept(","):
            read_attribute(lexer)
        lexer.expect(">")
        return Type(element.element, shape, element.pointee, True)
    match = INTEGER.match(word)
    element = f"i{match[1]}" if match else word
    if element not in BITS or element == "ptr":
        raise lexer.error(f"type '{word}' is not known")
    lexer.advance()
    return Type(element)


def read_types(lexer: Lexer) -> list[Type]:
    """``type, type`` or ``(type, type)`` or ``()``."""
    if lexer.accept("("):
        types = []
        while not lexer.accept(")"):
            types.append(read_type(lexer))
            lexer.accept(",")
        return types
    types = [read_type(lexer)]
    while lexer.accept(","):
        types.append(read_type(lexer))
    return types


def read_dictionary(lexer: Lexer, close: str = "}") -> dict[str, Any]:
    """``{name = value, flag}``, the opening mark being the next token; a name alone is True."""
    lexer.advance()
    attributes: dict[str, Any] = {}
    while not lexer.accept(close):
        name = lexer.take_string() if lexer.kind == "string" else lexer.take("word", "the name of an attribute")
        attributes[name] = read_attribute(lexer) if lexer.accept("=") else True
        if not lexer.accept(",") and not lexer.at(close):
            raise lexer.unexpected(f"',' or '{close}'")
    return attributes


def read_attribute(lexer: Lexer) -> Any:
    """Any attribute that Triton prints, as a Python value; a number's type is used and dropped."""
    if lexer.kind == "number":
        text = lexer.text
        lexer.advance()
        kind = read_type(lexer) if lexer.accept(":") else None
        return number(lexer, text, kind.element if kind else ("f64" if "." in text else "i64"))
    if lexer.kind == "string":
        text = lexer.take_string()
        if lexer.accept(":"):
            read_type(lexer)
        return text
    if lexer.kind == "symbol":
        return lexer.take("symbol", "a symbol")[1:].strip('"')
    if lexer.kind == "alias":
        return read_dialect_attribute(lexer)
    if lexer.kind == "type":
        return read_type(lexer)
    if lexer.accept("["):
        items = []
        while not lexer.accept("]"):
            items.append(read_attribute(lexer))
            lexer.accept(",")
        return items
    if lexer.at("{"):
        return read_dictionary(lexer)
    if lexer.kind != "word":
        raise lexer.unexpected("an attribute")
    if lexer.at("dense"):
        return read_dense(lexer)[0]
    word = lexer.text
    if word in BITS or word == "tensor":
        return read_type(lexer)
    lexer.advance()
    if word in ("true", "false", "unit"):
        return word != "false"
    if word == "array":
        lexer.expect("<")
        element = read_type(lexer).element
        items = []
        if lexer.accept(":"):
            while not lexer.at(">"):
                items.append(number(lexer, lexer.text, element))
                lexer.advance()
                lexer.accept(",")
        lexer.expect(">")
        return items
    if lexer.at("<"):  # a keyword with a parameter, such as overflow<nsw>
        return {word: read_angle(lexer)}
    return word


def read_dialect_attribute(lexer: Lexer) -> str:
    """``#dialect.kind<word>`` as its word; an alias such as ``#loc3`` as its name."""
    name = lexer.take("alias", "an attribute")[1:]
    return ",".join(read_angle(lexer)) if lexer.at("<") else name


def read_angle(lexer: Lexer) -> list[str]:
    """The words between ``<`` and ``>``."""
    lexer.expect("<")
    words = []
    while not lexer.accept(">"):
        if lexer.kind == "end":
            raise lexer.unexpected("'>'")
        if not lexer.at(","):
            words.append(lexer.text)
        lexer.advance()
    return words


def read_dense(lexer: Lexer) -> tuple[Dense, Type]:
    """``dense<...> : tensor<...>``: one value, nested lists, or the bytes as hexadecimal digits."""
    lexer.expect("dense")
    lexer.expect("<")
    texts: list[str] = []
    nested = lexer.at("[")
    blob = lexer.kind == "string"
    if blob:
        texts.append(lexer.take_string())
    while not lexer.at(">"):
        if lexer.kind in ("number", "word"):
            texts.append(lexer.text)
        elif lexer.text not in ("[", "]", ","):
            raise lexer.unexpected("a number")
        lexer.advance()
    lexer.expect(">")
    lexer.expect(":")
    kind = read_type(lexer)
    if blob:
        values = decode_blob(lexer, texts[0], kind)
    else:
        values = tuple(number(lexer, text, kind.element) for text in texts)
    if len(values) == 1 and (not nested or kind.size == 1):
        return Dense(values, True), kind
    if len(values) != kind.size:
        raise lexer.error(f"a constant of {kind} has {len(values)} values")
    return Dense(values, False), kind


def decode_blob(lexer: Lexer, text: str, kind: Type) -> tuple[Any, ...]:
    try:
        raw = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise lexer.error("the bytes of a constant are not hexadecimal digits") from None
    if kind.element == "i1":  # packed, lowest bit first; one value for all is a whole byte
        if len(raw) == 1 and raw[0] in (0, 255):
            return (bool(raw[0]),)
        return tuple(bool(raw[i // 8] >> i % 8 & 1) for i in range(kind.size))
    width = kind.bytes
    words = [int.from_bytes(raw[i : i + width], "little") for i in range(0, len(raw), width)]
    return tuple(from_bits(word, kind.element) for word in words)


def number(lexer: Lexer, text: str, element: str) -> Any:
    """A literal of an element type. Hexadecimal digits are the bits of a floating-point number."""
    try:
        if text in ("true", "false"):
            return text == "true" if element == "i1" else int(text == "true")
        if element == "i1":
            return bool(int(text, 0))
        if "0x" in text:
            return from_bits(int(text, 0), element)
        return int(text) if element[0] == "i" else float(text)
    except (ValueError, struct.error):
        raise lexer.error(f"{text!r} is no value of type {element}") from None


def from_bits(bits: int, element: str) -> Any:
    """The value that these bits have in an element's format."""
    if element == "bf16":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    if element in FORMATS:
        store, load = FORMATS[element]
        return struct.unpack(f"<{load}", struct.pack(f"<{store}", bits))[0]
    if element in FP8:
        return from_fp8(bits, element)
    width = BITS[element]
    return bits - (1 << width) if bits >> (width - 1) else bits


def from_fp8(bits: int, element: str) -> float:
    exponent_bits, mantissa_bits, bias, kind = FP8[element]
    if kind == "fnuz" and bits == 0x80:
        return float("nan")
    sign = -1.0 if bits >> 7 else 1.0
    exponent, mantissa = bits >> mantissa_bits & (1 << exponent_bits) - 1, bits & (1 << mantissa_bits) - 1
    top = (1 << exponent_bits) - 1
    if kind == "ieee" and exponent == top:
        return float("nan") if mantissa else sign * float("inf")
    if kind == "fn" and exponent == top and mantissa == (1 << mantissa_bits) - 1:
        return float("nan")
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - bias - mantissa_bits)
    return sign * (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)
