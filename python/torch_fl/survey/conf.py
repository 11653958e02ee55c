"""The routing file that follows from the evidence."""

from __future__ import annotations

from .evidence import Evidence
from .policy import SLOWEST, backed, decide

WIDTH = 100  # of the comments


def text(evidence: Evidence, own: bool = False, source: str = "survey.json") -> str:
    """Routes of all operators that FlagGems serves rightly, and in comments why it does not serve the others.

    Args:
        own: for installations with the platform's own kernels, which are behind FlagGems': it serves only what is also not
            slower than they.
        source: the name of the evidence's file.
    """
    making = evidence.making
    behind = f"'{making.own}', which also goes before what is slower" if own else "the CPU fallback"
    slowest = SLOWEST if own else None
    versions = ", ".join(f"{name} {version}" for name, version in making.versions.items())
    lines = [
        "# Routes to FlagGems kernels, as measured: written by `torch-fl survey`, do not edit.",
        *(f"# Made by: {run.command} ({run.date})" for run in making.runs),
        f"# With {versions}.",
        f"# Each operator and dtype was compared with the CPU; docs/survey.md says how, docs/{source} what was found.",
        f"# What was wrong, raised, crashed or was not measured goes to {behind}.",
        "",
    ]
    routed, left = [], []
    for operator in sorted(evidence.operators, key=lambda operator: operator.operator):
        decision = decide(operator, slowest)
        if decision.chain:
            chain = decision.chain
            if own and operator.own:
                chain = backed(chain, making.own)
            routed.append(f"{operator.operator} = {chain}")
        elif operator.exists:
            left.append(f"# {operator.operator}: {short(decision.reason)}")
    return "\n".join([*lines, *routed, "", "# Not served by FlagGems:", *left, ""])


def short(reason: str) -> str:
    reason = " ".join(reason.split())
    return reason if len(reason) <= WIDTH else reason[: WIDTH - 3] + "..."
