"""Which ATen operators the installed FlagGems serves, read from its source without importing it.

FlagGems 5.0 lists them in ``flag_gems/__init__.py`` as ``_FULL_CONFIG``, a
tuple of ``("add.Tensor", add)`` or ``("copy_", copy_, condition)``: the
operator, the function, and whether it is to be registered at all.
``flag_gems.enable`` reads the same tuple (source of this fact:
``flag_gems/__init__.py`` and ``runtime/register.py`` of 5.0.2).
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

SUPPORTED = ">=5.0,<5.1"  #: the versions whose table has the layout above
CONFIG = "_FULL_CONFIG"

#: operators that FlagGems has a function for beside its table: overload -> function
BESIDE = {"scaled_dot_product_attention": "scaled_dot_product_attention"}

#: operators whose function records its own gradient: an ``autograd.Function`` in 5.0.2, which ``conv1d`` gets to as well
DIFFERENTIABLE = frozenset({"conv1d", "conv1d.padding", "conv2d", "conv2d.padding", "rms_norm"})

#: those that record a wrong one: the backward kernel of 5.0.2 gets no causal flag and always masks; PyTorch's composition
#: serves them where a gradient is asked for
WRONG_GRADIENT = frozenset({"scaled_dot_product_attention"})


class _Unusable(Exception):
    """Why the installed FlagGems cannot serve; one sentence."""


def table() -> dict[str, str]:
    """ATen overload -> name of the FlagGems function that serves it; empty where :func:`problem` says why."""
    return dict(_read()[0])


def problem() -> str | None:
    """One sentence with the remedy where no FlagGems can be used here, else None."""
    return _read()[1]


def version() -> str | None:
    """The version of the installed FlagGems, None where there is none."""
    try:
        return metadata.version("flag_gems")
    except metadata.PackageNotFoundError:
        return None


@cache
def _read() -> tuple[dict[str, str], str | None]:
    try:
        path = _source()
        _check_version(path)
        return _served(path), None
    except _Unusable as error:
        return {}, str(error)


def _source() -> Path:
    try:
        spec = find_spec("flag_gems")
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None:
        raise _Unusable(f"FlagGems is not installed; install flag-gems{SUPPORTED}")
    if find_spec("triton") is None:
        raise _Unusable("FlagGems is installed without Triton, which compiles its kernels; install triton")
    return Path(spec.origin)


def _check_version(path: Path) -> None:
    from packaging.specifiers import SpecifierSet  # FlagGems needs this package too

    found = version()
    if found is None or not SpecifierSet(SUPPORTED).contains(found, prereleases=True):
        raise _Unusable(
            f"FlagGems {found or 'of unknown version'} is installed ({path.parent}), "
            f"and this torch-fl works with FlagGems {SUPPORTED}; install flag-gems{SUPPORTED}"
        )


def _served(path: Path) -> dict[str, str]:
    from torch_fl.routing.operators import operator_names

    try:
        tree = ast.parse(path.read_bytes())
        entries = [_entry(node, tree) for node in _config(tree)]
    except (OSError, SyntaxError, LookupError, ValueError) as error:
        raise _Unusable(
            f"FlagGems {version()} has no table {CONFIG} in {path} that torch-fl can read ({error}); "
            f"reinstall flag-gems{SUPPORTED}"
        ) from error
    served: dict[str, str] = {}
    for operator, function, enabled in entries:
        if enabled and operator in operator_names():  # it has a few names that no operator of PyTorch has
            served.setdefault(operator, function)  # FlagGems keeps the first of two as well
    functions = (path.parent / "ops" / "__init__.py").read_bytes()
    served |= {op: name for op, name in BESIDE.items() if re.search(rb"\b%s\b" % name.encode(), functions)}
    return served


def _config(tree: ast.Module) -> list[ast.expr]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == CONFIG for target in targets):
            value = node.value
            if isinstance(value, (ast.Tuple, ast.List)):
                return value.elts
            raise ValueError(f"{CONFIG} is no tuple")
    raise LookupError(f"{CONFIG} is not there")


def _entry(node: ast.expr, tree: ast.Module) -> tuple[str, str, bool]:
    match node:
        case ast.Tuple(elts=[ast.Constant(value=str(operator)), ast.Name(id=function)]):
            return operator, function, True
        case ast.Tuple(elts=[ast.Constant(value=str(operator)), ast.Name(id=function), condition]):
            return operator, function, _holds(condition, tree)
    raise ValueError(f"line {node.lineno} is no entry of operator and function")


def _holds(condition: ast.expr, tree: ast.Module) -> bool:
    """What FlagGems' condition gives: run alone, with the imports and functions of its file that it names."""
    parts: list[ast.stmt] = list(_needed(condition, tree))
    parts.append(ast.Assign([ast.Name("_condition", ast.Store())], condition))
    scope: dict = {"__name__": "flag_gems"}
    try:
        code = compile(ast.fix_missing_locations(ast.Module(parts, [])), "flag_gems/__init__.py", "exec")
        exec(code, scope)  # the code that `import flag_gems` runs
        return bool(scope["_condition"]())
    except Exception as error:
        raise ValueError(f"the condition in line {condition.lineno} cannot be evaluated: {error}") from error


def _needed(expression: ast.AST, tree: ast.Module) -> Iterator[ast.stmt]:
    names = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
    for statement in tree.body:
        match statement:
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases, level=0):
                own = isinstance(statement, ast.ImportFrom) and str(statement.module).split(".")[0] == "flag_gems"
                if not own and any((alias.asname or alias.name.split(".")[0]) in names for alias in aliases):
                    yield statement
            case ast.FunctionDef(name=name) if name in names:
                yield from _needed(statement, tree)
                yield statement
