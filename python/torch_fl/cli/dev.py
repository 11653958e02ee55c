"""``torch-fl dev``: commands for who changes the project itself.  They work in a checkout of its sources."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

dev = typer.Typer(help="Change the project itself; run in a checkout of its sources.", no_args_is_help=True)

TEMPLATE = Path("tests", "skeleton", "template")
PLATFORMS = Path("src", "platforms")
WORD = "skeleton"  # what the template's files, names and contents call the platform


@dev.callback()
def _group() -> None:
    pass


@dev.command()
def new_platform(
    name: Annotated[str, typer.Argument(help="Its short name, as in build strings: lower-case letters and digits.")],
    checkout: Annotated[Path | None, typer.Option(help="The sources (default: the ones that hold this folder).")] = None,
) -> None:
    """Write the folder of a new platform: facts, a device layer, and an emulated SDK that it runs on.

    Nothing else is touched but the files that `python -m flbuild.sync` writes from the platforms' facts.
    """
    root = _checkout(checkout)
    if not re.fullmatch(r"[a-z][a-z0-9]*", name):
        raise typer.BadParameter(f"{name!r} is no name of a platform; take lower-case letters and digits, a letter first")
    folder = root / PLATFORMS / name
    if folder.exists():
        raise typer.BadParameter(f"{folder} exists; take another name, or remove it")
    if name == WORD:
        raise typer.BadParameter(f"{name!r} is the template's own name; take another one")
    for source in sorted(path for path in (root / TEMPLATE).rglob("*") if path.is_file()):
        target = folder / _renamed(source.relative_to(root / TEMPLATE).as_posix(), name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_renamed(source.read_text(encoding="utf-8"), name), encoding="utf-8")
        typer.echo(target.relative_to(root))
    done = subprocess.run([sys.executable, "-m", "flbuild.sync"], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:  # it needs libraries of the build's own tools
        typer.echo("now run: python -m flbuild.sync (build_artifacts/tools/bin/python has what it needs)")
    else:
        typer.echo(done.stdout, nl=False)
    typer.echo(f"next: {(PLATFORMS / name / 'README.md').as_posix()}")


@dev.command()
def sync(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 where a file differs.")] = False,
    checkout: Annotated[Path | None, typer.Option(help="The sources (default: the ones that hold this folder).")] = None,
) -> None:
    """Write what is derived from the platforms' facts: variants, pixi's environments and tasks, tables.

    It is `python -m flbuild.sync`, by the Python of the build's tools where that is there, since it needs their libraries.
    """
    root = _checkout(checkout)
    tools = next(iter(sorted(root.glob("build_artifacts/tools*/bin/python"))), Path(sys.executable))
    done = subprocess.run([tools, "-B", "-m", "flbuild.sync", *(["--check"] if check else [])], cwd=root, capture_output=True, text=True, check=False)
    if "ModuleNotFoundError" in done.stderr:
        raise typer.BadParameter("flbuild.sync needs the libraries of the build's tools; run python3 build-locally.py once, which installs them")
    typer.echo(done.stdout, nl=False)
    typer.echo(done.stderr, nl=False, err=True)
    raise typer.Exit(done.returncode)


@dev.command()
def routes(
    survey: Annotated[
        Path | None,
        typer.Option(help="Evidence of `torch-fl survey` (default: the platform's own, else the host's, in docs)."),
    ] = None,
    checkout: Annotated[Path | None, typer.Option(help="The sources (default: the ones that hold this folder).")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 where the file differs.")] = False,
) -> None:
    """Write the installed platform's routing file for FlagGems from its kernels, the survey and its own policy.

    Where the platform's own kernels are an addition and are not installed, it is the file for FlagGems alone.

    Evidence that was taken on the platform's own card is enough by itself: it has costs, and the kernels they were taken beside.
    """
    from torch_fl import _C
    from torch_fl.evidence import capabilities
    from torch_fl.routing import generate
    from torch_fl.survey import conf, evidence, policy

    root = _checkout(checkout)
    platform = capabilities.platform()
    slot = next(iter(platform["kernels"]["slots"]), None)
    kernels = _C.slot_operators(slot) if slot else []
    alone = not kernels and "vendor" in platform["kernels"].get("optional", [])
    if slot and not kernels and not alone:
        raise typer.BadParameter(f"slot {slot!r} has no kernel here; install torch-fl-vendor-kernels of {platform['name']}")
    own_policy = platform.get("routes", {})
    first = [generate.NativeFirst(group["operators"], group["reason"]) for group in own_policy.get("native_first", [])]
    rules = [(rule["line"], rule["reason"]) for rule in own_policy.get("rules", [])]
    own = Path("docs", f"survey-{platform['id']}.json")
    survey = survey or (own if (root / own).is_file() else Path("docs", "survey.json"))
    try:
        document = evidence.read(survey if survey.is_absolute() else root / survey)
        found = {operator.operator: policy.decide(operator).chain for operator in document.operators}
        measured = {operator: chain for operator, chain in found.items() if chain}
        if document.making.own:
            text = conf.text(document, own=True, source=survey.name)
        else:
            text = generate.flaggems_text(None if alone else slot, kernels, measured, first, survey.as_posix(), rules)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    name = "backends_flaggems.conf" if alone else f"backends_{platform['id']}_flaggems.conf"
    file = root / PLATFORMS / platform["id"] / "routes" / name
    same = file.is_file() and file.read_text(encoding="utf-8") == text
    typer.echo(f"{file.relative_to(root)}: {'unchanged' if same else 'differs' if check else 'written'}")
    if not same and check:
        typer.echo("run: torch-fl dev routes", err=True)
        raise typer.Exit(1)
    if not same:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _renamed(text: str, name: str) -> str:
    for word, by in ((WORD, name), (WORD.capitalize(), name.capitalize()), (WORD.upper(), name.upper())):
        text = text.replace(word, by)
    return text


def _checkout(given: Path | None) -> Path:
    here = (given or Path.cwd()).resolve()
    candidates = [here] if given else [here, *here.parents]
    root = next((folder for folder in candidates if (folder / TEMPLATE).is_dir() and (folder / PLATFORMS).is_dir()), None)
    if root is None:
        raise typer.BadParameter(f"{here} is no checkout of torch-fl (it has no {TEMPLATE}); go to one, or give --checkout")
    return root
