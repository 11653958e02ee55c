"""Triton IR (TTIR) as Python objects: :func:`parse` reads the text that Triton's front end prints."""

from .ir import Block, Dense, Function, Module, Operation, Region, Successor, Type, Value
from .lexer import ParseError
from .parse import parse

__all__ = [
    "Block",
    "Dense",
    "Function",
    "Module",
    "Operation",
    "ParseError",
    "Region",
    "Successor",
    "Type",
    "Value",
    "parse",
]
