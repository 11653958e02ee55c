"""The doctor without typer and rich, where these cannot be imported: plain text, and the same JSON."""

import json

from torch_fl.doctor import Finding, document, examine_all

TIMEOUT = 120.0


def main(arguments: list[str], reason: Exception) -> int:
    """Print the findings; the command line's own trouble is the first.

    Args:
        arguments: of the command; `--json` is the only one that is known here.
        reason: why the command line's libraries cannot be imported.

    Returns:
        the exit status, 1: something is wrong.
    """
    said = f"the command line's libraries cannot be imported, so this is plain text: {type(reason).__name__}: {reason}".splitlines()[0]
    findings = [Finding("wrong", "command line", said, "install typer and rich again: conda install --force-reinstall typer rich")]
    findings += examine_all(TIMEOUT)
    if "--json" in arguments:
        print(json.dumps(document(findings), indent=2))
    else:
        for finding in findings:
            print(f"{finding.state:5}  {finding.subject}: {finding.sentence}" + (f"; {finding.remedy}" if finding.remedy else ""))
    return 1
