"""The routing file that follows from the evidence."""

from __future__ import annotations

from .evidence import Evidence
from .policy import decide

WIDTH = 100  # of the comments


def text(evidence: Evidence, slowest: float | None = None) -> str:
    """Routes of all operators that FlagGems serves rightly, and in comments why it does not serve the others."""
    making = evidence.making
    versions = ", ".join(f"{name} {version}" for name, version in making.versions.items())
    lines = [
        "# Routes to FlagGems kernels, as measured: written by `torch-fl survey`, do not edit.",
        *(f"# Made by: {run.command} ({run.date})" for run in making.runs),
        f"# With {versions}.",
        "# Each operator and dtype was compared with the CPU; docs/survey.md says how, docs/survey.json what was found.",
        "# What was wrong, raised, crashed or was not measured goes to the CPU fallback.",
        "",
    ]
    routed, left = [], []
    for operator in sorted(evidence.operators, key=lambda operator: operator.operator):
        decision = decide(operator, slowest)
        if decision.chain:
            routed.append(f"{operator.operator} = {decision.chain}")
        elif operator.exists:
            left.append(f"# {operator.operator}: {short(decision.reason)}")
    return "\n".join([*lines, *routed, "", "# Not served by FlagGems:", *left, ""])


def short(reason: str) -> str:
    reason = " ".join(reason.split())
    return reason if len(reason) <= WIDTH else reason[: WIDTH - 3] + "..."
