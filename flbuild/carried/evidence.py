"""Run as a script, in a process that may import torch_fl: what `torch-fl test` says about the machine, and its file of evidence."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path


def write(said: str, junit: str, evidence: str) -> str:
    from torch_fl.evidence import record

    facts = json.loads(said)
    begun = datetime.fromisoformat(facts["begun"])
    document = record.write(Path(evidence), facts["about"], facts["command"], facts["status"], Path(junit), begun)
    return f"{', '.join(f'{count} {word}' for word, count in document['counts'].items())}; evidence: {evidence}"


def about() -> str:
    from torch_fl.evidence import record

    return json.dumps(record.environment())


if __name__ == "__main__":
    print({"about": about, "write": write}[sys.argv[1]](*sys.argv[2:]))
