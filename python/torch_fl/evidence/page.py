"""The page beside a file of evidence: one HTML file with its plots, made from the JSON alone."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from torch_fl.evidence import plots
from torch_fl.evidence.record import OUTCOMES

KEYS = {"schema", "platform", "emulated", "begun", "seconds", "devices", "versions", "command", "status", "counts", "skipped", "failed"}

TEMPLATE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
  body { font: 15px/1.5 system-ui, sans-serif; color: #1a202c; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
  table { border-collapse: collapse } td, th { text-align: left; vertical-align: top; padding: .15rem 1rem .15rem 0 }
  th { font-weight: 600 } pre { background: #f7fafc; padding: .6rem; overflow: auto; white-space: pre-wrap } svg { max-width: 100% }
</style>
<h1>{{ title }}</h1>
<p>{{ said }}</p>
{{ counts }}
<h2>What ran where</h2>
<table>
{% for name, value in facts %}<tr><th>{{ name }}</th><td>{{ value }}</td></tr>
{% endfor %}</table>
{% if failed %}<h2>Failures</h2>
{% for name, message in failed.items() %}<h3>{{ name }}</h3>
<pre>{{ message or "no message" }}</pre>
{% endfor %}{% endif %}
{% if files %}<h2>Tests by file</h2>
{{ outcomes }}
<h2>Seconds by file</h2>
{{ seconds }}
{% endif %}
{% if reasons %}<h2>Why tests were skipped</h2>
<table>
{% for reason, count in reasons %}<tr><td>{{ count }}</td><td>{{ reason }}</td></tr>
{% endfor %}</table>{% endif %}
</html>
"""


def read(path: Path) -> dict[str, Any]:
    """A file of evidence.

    Raises:
        ValueError: it cannot be read, or is none; the sentence says why.
    """
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read ({error}); name a file that torch-fl test has written") from None
    lacking = KEYS - document.keys() if isinstance(document, dict) else KEYS
    if lacking or document["schema"] != 1:
        why = f"it has no {sorted(lacking)[0]!r}" if lacking else f"its schema is {document['schema']}, and 1 is known"
        raise ValueError(f"{path} is no file of evidence ({why}); name one that torch-fl test has written")
    return document


def html(document: dict[str, Any]) -> str:
    """The page's text; the same document gives the same page.

    Raises:
        ImportError: jinja2 is not installed, which comes with PyTorch.
    """
    from jinja2 import Environment
    from markupsafe import Markup

    counts, files = document["counts"], document.get("files", {})
    ran = sum(counts.values()) - counts["skipped"]
    by_file = {name: {word: file[word] for word in OUTCOMES} for name, file in files.items()}
    slowest = sorted(((name, file["seconds"]) for name, file in files.items()), key=lambda item: -item[1])
    return Environment(autoescape=True, trim_blocks=False).from_string(TEMPLATE).render(
        title=f"torch-fl on {document['platform']}" + (", emulated" if document["emulated"] else ""),
        said=f"{counts['passed']:,} of {ran:,} tests that ran passed; {counts['skipped']:,} were skipped.",
        counts=Markup(plots.stacked({"": counts}, "tests by outcome")),
        facts=_facts(document),
        failed=document["failed"],
        files=files,
        outcomes=Markup(plots.stacked(by_file, "tests by file and outcome")) if files else "",
        seconds=Markup(plots.lengths(dict(slowest), "seconds by file")) if files else "",
        reasons=Counter(document["skipped"].values()).most_common(),
    )


def _facts(document: dict[str, Any]) -> list[tuple[str, str]]:
    devices = Counter(f"{device['name']} ({device['memory'] / 2**30:.0f} GiB)" for device in document["devices"])
    return [
        ("begun", document["begun"]),
        ("seconds", f"{document['seconds']:g}"),
        ("devices", ", ".join(f"{count} × {name}" for name, count in devices.items())),
        *((f"driver: {name}", said) for name, said in document.get("driver", {}).items()),
        *document["versions"].items(),
        *document.get("host", {}).items(),
        *document.get("settings", {}).items(),
        ("command", " ".join(document["command"])),
        ("status", str(document["status"])),
    ]


def write(path: Path, document: dict[str, Any]) -> Path:
    """Write the page beside the file of evidence and return where.

    Args:
        path: of the file of evidence; the page's ends in `.html` instead.
    """
    page = path.with_suffix(".html")
    page.write_text(html(document), encoding="utf-8")
    return page
