"""One operator with one dtype: every call and its variants on the CPU and through FlagGems, compared."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from . import operators, random, seam, variants
from .calls import Call
from .compare import Difference, compare
from .evidence import TOLERABLE, Count, Depth, Finding, Trial
from .mirror import CPU, Mirror

MOST_FINDINGS = 6
VARIED = 2  # base calls that are tried in all variants
QUICK = ("gaps", "expanded", "broadcast", "empty", "edge values", "number", "out to resize")
SEED = 1234
OTHER_SEEDS = (1, 2, 3)  # several: few drawn values can be alike by chance


CPU_STEP = "the CPU's own kernel"


class Refused(Exception):
    """The CPU does not compute the call."""


class Lost(Exception):
    """The process cannot use the device any more."""


def run(
    key: str,
    dtype: str,
    calls: list[Call],
    tell: Callable[[str, Any], None],
    depth: Depth = "full",
    budget: float = float("inf"),
) -> Trial:
    """Try all calls.

    Args:
        tell: is told ("so far", Trial) and ("at", text) before each call, for the case that the process ends there.
        budget: seconds after which what is left is not tried; `Trial.cut` then counts it.
    """
    trial = Trial(operator=key, dtype=dtype, depth=depth, executor=seam.executor())
    start = time.monotonic()
    signatures: set[tuple[str, ...]] = set()
    needs: set[str] = set()
    failed: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for check, call in planned(calls, depth):
            if time.monotonic() - start > budget:
                trial.cut += 1
                continue
            settle(trial, signatures, needs, failed)
            tell("so far", trial)
            tell("at", f"{CPU_STEP}; {call.source}; {arguments_of(call)}")
            try:
                wanted = Outcome.on_cpu(call)
            except Refused:
                continue
            tell("at", f"{check}; {call.source}; {arguments_of(call)}")
            count = trial.checks.setdefault(check, Count())
            count.runs += 1
            before = seam.launches(), seam.calls(key)
            found = differences(call, wanted)
            trial.launches += seam.launches() - before[0]
            trial.calls += seam.calls(key) - before[1]
            bad = [difference for difference in found if difference.aspect not in TOLERABLE]
            count.failed += bool(bad)
            excuse = excused(call) if bad and check != variants.FAR else None
            if excuse:
                needs.add(excuse)
            elif bad and check != variants.FAR:
                failed.add("error" if {difference.aspect for difference in bad} == {"exception"} else "wrong")
            for difference in found:
                note(trial, check, call, difference)
            if not bad:
                signatures.add(call.signature)
        settle(trial, signatures, needs, failed)
        if trial.verdict == "correct" and seam.native() is None:  # on a card, `cost` is what counts
            trial.ratio = ratio(max(calls, key=lambda call: sum(t.numel() for t in call.tensors)))
    trial.seconds = round(time.monotonic() - start, 3)
    return trial


def planned(calls: list[Call], depth: Depth) -> Iterator[tuple[str, Call]]:
    """The calls and their variants. Each new form of a call is a kernel to compile: `quick` leaves most of them out."""
    quick = depth == "quick"
    yield from (("samples", call) for call in calls)
    yield from variants.transfer(calls[0]) if calls else ()
    largest = sorted((call for call in calls if call.tensors), key=lambda call: -max(t.numel() for t in call.tensors))
    for call in largest[: 1 if quick else VARIED]:  # a tensor without dimensions has no layouts and one edge value
        forms = [*variants.of(call), *variants.mixed(call), *variants.outputs(call)]
        yield from (form for form in forms if not quick or form[0] in QUICK)
    if not quick:
        yield from variants.far(calls[0]) if calls else ()


def note(trial: Trial, check: str, call: Call, difference: Difference) -> None:
    seen = any(f.check == check and f.aspect == difference.aspect for f in trial.findings)
    if not seen and len(trial.findings) < MOST_FINDINGS:
        trial.findings.append(
            Finding(
                check=check,
                aspect=difference.aspect,
                message=str(difference),
                source=call.source,
                arguments=arguments_of(call),
            )
        )


def excused(call: Call) -> str | None:
    """The condition by which a route keeps such a call from FlagGems, or None where none does."""
    first = next(iter(call.tensors), None)
    if first is not None and not first.numel():
        return "numel>=1"
    if first is not None and not first.dim():
        return "ndim>=1"
    return None if all(tensor.is_contiguous() for tensor in call.tensors) else "contiguous=true"


def settle(trial: Trial, signatures: set[tuple[str, ...]], needs: set[str], failed: set[str]) -> None:
    """The verdict of what ran until now."""
    trial.signatures, trial.needs = sorted(map(list, signatures)), sorted(needs)
    if failed:
        trial.verdict = "wrong" if "wrong" in failed else "error"
    elif not signatures:
        trial.verdict = "error" if needs else "untested"
    else:
        trial.verdict = "correct" if trial.launches and trial.calls else "idle"


class Outcome:
    """What the CPU gives for a call, and which of its values may be compared."""

    def __init__(self, call: Call, result: Any, arguments: list[torch.Tensor], returned: list[int | None]) -> None:
        self.call, self.result, self.arguments, self.returned = call, result, arguments, returned
        self.random = False

    @classmethod
    def on_cpu(cls, call: Call) -> Outcome:
        outcome = cls.with_seed(call, SEED)
        if torch.Tag.nondeterministic_seeded in operators.overload(call.key).tags:
            others = [cls.with_seed(call, seed) for seed in OTHER_SEEDS]
            outcome.random = not all(random.alike(outcome.values, other.values) for other in others)
        return outcome

    @property
    def values(self) -> list[torch.Tensor]:
        """All that a call leaves behind: results and arguments."""
        return [leaf for leaf in (*tree_leaves(self.result), *self.arguments) if isinstance(leaf, torch.Tensor)]

    @classmethod
    def with_seed(cls, call: Call, seed: int) -> Outcome:
        mirror = Mirror(CPU)
        args, kwargs = mirror((call.args, call.kwargs))
        torch.random.default_generator.manual_seed(seed)
        try:
            with torch.no_grad():
                result = operators.overload(call.key)(*args, **kwargs)
        except Exception as error:
            raise Refused from error
        return cls(call, result, mirror.tensors, identities(result, mirror.tensors))

    def exact(self) -> Any:
        """The same computed in double precision, or None where that says nothing."""
        wider = {torch.float16, torch.bfloat16, torch.float32}
        if self.random or not any(t.dtype in wider for t in self.call.tensors) or operators.written(self.call.key):
            return None

        def leaf(value: Any) -> Any:
            if isinstance(value, torch.dtype) and value in wider:
                return torch.float64
            return value.double() if isinstance(value, torch.Tensor) and value.dtype in wider else value

        args, kwargs = tree_map(leaf, Mirror(CPU)((self.call.args, self.call.kwargs)))
        try:
            with torch.no_grad():
                result = operators.overload(self.call.key)(*args, **kwargs)
        except Exception:  # noqa: BLE001 - not every operator has a double form
            return None
        alike = [
            a.shape == b.shape
            for a, b in zip(tree_leaves(result), tree_leaves(self.result), strict=True)
            if hasattr(a, "shape")
        ]
        return result if all(alike) else None


def identities(result: Any, arguments: list[torch.Tensor]) -> list[int | None]:
    """For each result the number of the argument that it is, or None for a new tensor."""
    places = {id(tensor): number for number, tensor in enumerate(arguments)}
    return [places.get(id(leaf)) for leaf in tree_leaves(result)]


def differences(call: Call, wanted: Outcome) -> list[Difference]:
    """Run the call on the device and compare; raises Lost."""
    try:
        result, arguments = on_device(call)
        if wanted.random:
            return random.differences(wanted.result, result, on_device(call)[0])
    except Exception as error:  # noqa: BLE001 - the CPU computes this
        if not seam.usable():
            raise Lost(first_line(error)) from error
        return [Difference("exception", f"{type(error).__name__}: {first_line(error)}")]
    found = compare(wanted.result, result)
    if any(d.aspect == "values" for d in found):
        found = compare(wanted.result, result, wanted.exact())
    if operators.written(call.key):
        found += [Difference(d.aspect, f"an argument afterwards: {d}") for d in compare(wanted.arguments, arguments)]
        if identities(result, arguments) != wanted.returned:
            found.append(Difference("identity", "the returned tensor is not the argument that was written"))
    return found


def on_device(call: Call) -> tuple[Any, list[torch.Tensor]]:
    """The result of a call on the device, and its arguments there."""
    device = torch.device(seam.DEVICE)
    placed = variants.Placed(call, device)
    args, kwargs = placed.tree
    torch.get_device_module(device).manual_seed_all(SEED)
    with torch.no_grad():
        result = operators.overload(call.key)(*args, **kwargs)
    torch.get_device_module(device).synchronize()
    return result, placed.tensors


def first_line(error: BaseException) -> str:
    """The first line of a message; of a compile error the sentence below the source that it points at."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" ^")]
    if len(lines) > 1 and "CompilationError" in lines[0] + type(error).__name__:
        return f"{lines[0].rstrip(':')}: {lines[-1]}"
    return (lines or [""])[0]


def arguments_of(call: Call) -> str:
    def word(leaf: Any) -> str:
        if isinstance(leaf, torch.Tensor):
            return f"{str(leaf.dtype).removeprefix('torch.')}{list(leaf.shape)}"
        return repr(leaf)

    return ", ".join(word(leaf) for leaf in tree_leaves((call.args, call.kwargs)))[:200]


def ratio(call: Call, rounds: int = 5) -> float:
    """FlagGems' time by the CPU kernel's for one call, the shortest of some rounds that take turns."""
    device, best = torch.device(seam.DEVICE), {"cpu": float("inf"), "flagos": float("inf")}
    function = operators.overload(call.key)
    for _ in range(rounds):
        for side in ("cpu", "flagos"):
            args, kwargs = Mirror(CPU if side == "cpu" else device)((call.args, call.kwargs))
            with torch.no_grad():
                start = time.perf_counter()
                function(*args, **kwargs)
                if side != "cpu":
                    torch.get_device_module(device).synchronize()
                best[side] = min(best[side], time.perf_counter() - start)
    return round(best["flagos"] / best["cpu"], 2)
