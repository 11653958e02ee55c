"""``torch-fl test``: run the installed contract suite on this machine's devices and write a file of evidence."""

import importlib.util
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import typer

SUITE = "torch_fl_tests"


def test(
    platform: Annotated[str, typer.Argument(help="The platform that is expected here: musa, host, ...")],
    emulated: Annotated[bool, typer.Option("--emulated", help="This is a build on an emulated SDK, and meant to be.")] = False,
    subset: Annotated[bool, typer.Option("--subset", help="Only the short selection of the platform.")] = False,
    output: Annotated[Path | None, typer.Option(help="The file of evidence (default: evidence-<platform>.json).")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that share the tests.")] = 1,
) -> None:
    """Run the contract suite on this machine's devices and write a file of evidence, and a page (HTML, with plots) beside it.

    The exit status is pytest's: 0 when every test passed or was skipped with the platform's own reason.

        torch-fl test musa --emulated --subset
    """
    from torch_fl.evidence import page, record

    about = record.environment()
    _refuse_another(about, platform, emulated)
    suite = importlib.util.find_spec(SUITE)
    if suite is None:
        raise typer.BadParameter("the contract suite is not installed; install the package torch-fl-tests")
    path = (output or Path(f"evidence-{platform}.json")).absolute()
    if path.suffix == ".html":
        raise typer.BadParameter(f"the file of evidence is JSON, and its page gets the name {path.name}; call it {path.stem}.json", param_hint="--output")
    command = [*_pytest(platform, subset), *(["-n", str(jobs), "--dist=worksteal"] if jobs > 1 else [])]
    begun = datetime.now(timezone.utc)
    with tempfile.TemporaryDirectory() as folder:  # the tests may write where they are started
        junit = Path(folder, "junit.xml")
        root = Path(suite.submodule_search_locations[0]).parent  # else a file that is named alone has no name in the report
        done = subprocess.run([sys.executable, "-B", "-m", *command, f"--rootdir={root}", f"--junitxml={junit}"], cwd=folder, check=False)
        try:
            document = record.write(path, about, ["python", "-m", *command], done.returncode, junit, begun)
        except (ValueError, OSError) as error:
            raise typer.BadParameter(f"no evidence was written: {error}") from None
    counts = ", ".join(f"{count} {word}" for word, count in document["counts"].items())
    typer.echo(f"{counts}; page: {page.write(path, document)}; evidence: {path}")
    raise typer.Exit(done.returncode)


def _refuse_another(about: dict, platform: str, emulated: bool) -> None:
    """Evidence must not claim more than what was there."""
    if about["platform"] != platform:
        raise typer.BadParameter(
            f"the installed torch_fl is the {about['platform']!r} build, not {platform!r}; install 'torch-fl=*={platform}*'"
        )
    if not about["devices"]:
        raise typer.BadParameter(f"there is no device; torch-fl doctor says what is missing of {platform}'s driver and SDK")
    if about["build"]["emulated_sdk"] and not emulated:
        raise typer.BadParameter("this build runs on an emulated SDK, so it says nothing about a card: add --emulated")
    if emulated and not about["emulated"]:
        raise typer.BadParameter("this build runs on the vendor's own SDK: leave --emulated out")


def _pytest(platform: str, subset: bool) -> list[str]:
    """The command, after `python -m`: the contract suite and the platform's own tests, or the short selection of both."""
    from torch_fl.evidence import capabilities

    command, own = ["pytest", "-q", "-p", "no:cacheprovider", "--pyargs"], f"{SUITE}_{platform}"
    if not subset:
        return [*command, SUITE, *([own] if importlib.util.find_spec(own) else [])]
    chosen = capabilities.platform().get("tests", {})
    parts = [(SUITE, name) for name in chosen.get("subset", [])] + [(own, name) for name in chosen.get("own_subset", [])]
    if not parts:
        raise typer.BadParameter("the platform names no short selection; leave --subset out")
    return [*command, *(f"{package}.{name.removesuffix('.py')}" for package, name in parts)]
