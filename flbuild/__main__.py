"""The driver inside the tool environment; build-locally.py starts it."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from flbuild import (
    accelerator,
    arguments,
    bootstrap,
    build,
    carry,
    channels,
    children,
    cmake_tree,
    demo,
    double,
    ecosystem,
    ending,
    environment,
    flaggems,
    lock,
    reproduce,
    solve,
    testing,
)
from flbuild.digest import sha256_text
from flbuild.docs import site
from flbuild.errors import UserError, from_os_error
from flbuild.installation import install
from flbuild.layout import Layout, remove
from flbuild.libtorch import package as libtorch
from flbuild.platforms import Variant
from flbuild.report import Report
from flbuild.seed import channel as seed
from flbuild.seed import flaggems as flaggems_seed


def demonstrate(layout: Layout, report: Report, prefix: Path, args: argparse.Namespace, *options: str) -> None:
    """Run the examples in an environment when asked to, or when it is new; `options` are theirs."""
    shown = prefix / environment.DEMONSTRATED
    if args.demo or (args.demo is None and not args.test and not shown.exists()):
        for script in demo.examples(layout.root):
            said = " ".join([str(script.relative_to(layout.root)), *options])
            report.say(f"\ndemonstration {said}", style="bold")
            with report.stage(script.name):
                demo.run(prefix, script, options, quiet=args.json)
        shown.touch()


def check_options(variant: Variant, args: argparse.Namespace) -> None:
    """Refuse options about a vendor's core of PyTorch that would be passed over.

    Raises:
        UserError: the first one, and why.
    """
    if args.license_file and not args.license_file.is_file():
        raise UserError(f"--license-file {args.license_file} is no file; give the vendor's terms as a text.")
    if variant.needs_libtorch:
        return
    given = next((f"--{name.replace('_', '-')}" for name in ("bundle", "libtorch", "license_file") if getattr(args, name)), None)
    if given and variant.platform.libtorch:
        raise UserError(f"{given} is for kernels on the vendor's core of PyTorch, and these are not asked for; add --with boxing.")
    if given:
        raise UserError(f"{given}: {variant.platform.name} runs on the official core of PyTorch, so there is nothing to bundle; leave it out.")


def main(args, layout: Layout, report: Report) -> int:
    """All stages.

    Returns:
        the exit status.
    """
    children.reap(layout.work)
    remove(layout.work)
    layout.work.mkdir(parents=True)
    if args.docs:
        report.results["docs"] = str(first := site.make(layout, report))
        report.say(f"\nRead it from {first}")
        return 0
    kernels = args.kernels or (["boxing"] if args.bundle else [])
    wished = accelerator.choose(layout, args.variant, args.emulated, os.environ, kernels)
    check_options(wished, args)
    accelerator.sdk_root(layout, wished, os.environ)  # before anything is downloaded
    layout = replace(layout, torch=accelerator.seed_torch(layout, wished))

    seed_url = layout.seed.as_uri()
    with report.stage("channels") as stage:
        urls, why = channels.choose(args.channel or ["auto"], seed_url)
        stage.detail = f"{', '.join('seed' if u == seed_url else u for u in urls)} ({why})"
    variant = accelerator.write_variant(layout, wished, at_hand=seed_url in urls)
    there = accelerator.announce_driver(wished, report)
    base, extra = json.dumps(urls), []
    if seed_url in urls:
        base += seed.make(layout, report)
        extra.append(layout.seed / "variants.yaml")

    bundle = None
    if wished.needs_libtorch:
        bundle = libtorch.prepare(layout, report, wished, args.libtorch, args.license_file, urls)
        if args.bundle:
            channel = libtorch.make(layout, report, wished, urls, extra, tested=False)
            report.results["channel"] = channel
            report.say(f"\nName this channel before the others where the vendor's core of PyTorch is wanted: {channel}")
            return 0
    places, bundled = accelerator.places(layout, wished, bundle), libtorch.digest(bundle) if bundle else ""
    built = build.run(layout, report, variant, urls, base, args.jobs, extra, one_python=seed_url in urls, variables=places, bundle=bundled)
    if args.reproduce:
        return reproduce.run(layout, report, variant, built, urls, args.jobs, extra, places)
    everything = [layout.channel.as_uri(), *urls]
    if wished.needs_libtorch:
        everything.insert(0, libtorch.make(layout, report, wished, everything, extra))
    if args.carry:
        asked = (solve.TEST_PACKAGE,)
        if args.flaggems:
            asked += (solve.FLAGGEMS_PACKAGE,)
            everything = [*everything, flaggems_seed.make(layout, report)]
        return carry_away(layout, report, wished, everything, solve.specs(built.packages, *asked), built, Path(args.carry))
    wanted = solve.specs(built.packages) + list(solve.COMPANIONS)
    prefix = install(layout, report, variant.stem, everything, wanted)
    if wished.needs_libtorch:
        libtorch.try_out(prefix, layout.quarantine("libtorch"))
    report.results |= {
        "environment": str(prefix),
        "channel": str(layout.channel),
        "lock": str(prefix / environment.LOCK),
    }

    if args.demo or (there and not args.emulated):
        demonstrate(layout, report, prefix, args)
    asked = args.flaggems or (args.test and args.suite == arguments.FLAGGEMS)
    reference = wished.platform.sdk is None
    if asked or (args.test and args.suite == arguments.ALL and reference and flaggems.is_built(built)):
        # What no other channel has of it comes from a seed channel of its own.
        wanted = flaggems.wanted(built, variant.stem)
        install(layout, report, f"{variant.stem}-flaggems", [*everything, flaggems_seed.make(layout, report)], wanted)
    if args.flaggems:
        prefix = layout.environment(f"{variant.stem}-flaggems")
        report.results["flaggems_environment"] = str(prefix)
        demonstrate(layout, report, prefix, args, "--backend", "flaggems")
    if args.test or args.emulated:
        return test(layout, report, wished, everything, built, args)
    report.say(demo.closing(prefix, prefix.name))
    return 0


def carry_away(
    layout: Layout, report: Report, variant: Variant, urls: list[str], wanted: list[str], built: build.Built, folder: Path
) -> int:
    """The archive for another machine, and the command that runs it there."""
    needs_tests(variant.name, built)
    with report.stage("archive") as stage:
        target = carry.pack(
            layout.root, variant, urls, wanted, folder, layout.quarantine("carry"), layout.package_cache / "pkgs", stage
        )
    report.results["archive"] = str(target)
    report.say(f"\n{target}\nOn the other machine: python3 {target.name} --output FOLDER (and --help)")
    return 0


def test_flaggems(layout: Layout, report: Report, variant: str, args: argparse.Namespace) -> int:
    """The suites that need FlagGems' kernels, where the platform has them."""
    report.say("\nFlagGems' kernels, through the installed packages", style="bold")
    with report.stage("FlagGems tests"):
        return flaggems.tests(layout, layout.environment(f"{variant}-flaggems"), args.jobs, report.as_json)


def test_accelerator(
    layout: Layout, report: Report, variant: Variant, prefix: Path, args: argparse.Namespace
) -> int:
    """The contract suite on the accelerator's devices; it leaves a file of evidence."""
    where = "emulated devices" if variant.emulated_sdk else "the devices of this machine"
    report.say(f"\ncontract tests of {variant.platform.name}, on {where}", style="bold")
    with report.stage("contract tests") as stage:
        status, evidence = accelerator.run_tests(layout, variant, prefix, args.subset, args.jobs, report.as_json)
        stage.detail = "passed" if status == 0 else "FAILED"
    report.results["evidence"] = str(evidence)
    report.say(f"evidence: {evidence}")
    if variant.emulated_sdk:
        report.say(f"\nthe emulated {variant.platform.name} itself, and the device layer on it", style="bold")
        with report.stage("emulation tests"):
            status = accelerator.run_emulation_tests(layout, variant, prefix, report.as_json) or status
    if args.flaggems and variant.emulated_sdk:
        with report.stage("routing file"):
            with_flaggems = layout.environment(f"{variant.name}-flaggems")
            status = accelerator.check_routes(layout, with_flaggems, report.as_json) or status
    return status


def test_without_kernels(
    layout: Layout, report: Report, variant: Variant, urls: list[str], wanted: list[str], args: argparse.Namespace
) -> int:
    """The contract suite on the same packages without the kernels that need a vendor's core of PyTorch, on the official one."""
    urls = [url for url in urls if url != libtorch.channel_folder(layout, variant).as_uri()]
    wanted = [spec for spec in wanted if not spec.startswith(f"{solve.KERNELS_PACKAGE} ")]
    prefix = install(layout, report, f"{variant.name}-official-test", urls, wanted)
    report.say("\ncontract tests without these kernels, on the official core of PyTorch", style="bold")
    with report.stage("contract tests") as stage:
        status, _ = accelerator.run_tests(layout, variant, prefix, args.subset, args.jobs, report.as_json, "-official")
        stage.detail = "passed" if status == 0 else "FAILED"
    return status


def needs_tests(name: str, built: build.Built) -> None:
    """Refuse to test packages that have no tests."""
    if not any(solve.TEST_PACKAGE in package for package in built.packages):
        raise UserError(
            f"{solve.TEST_PACKAGE} was not built for {name}, so there is nothing to test the installed packages with; see recipe/recipe.yaml."
        )


def test(
    layout: Layout, report: Report, variant: Variant, urls: list[str], built: build.Built, args: argparse.Namespace
) -> int:
    """The suites asked for; the first failure decides the exit status, and none keeps the others from running."""
    name = variant.name
    if args.suite == arguments.FLAGGEMS:
        return test_flaggems(layout, report, name, args)
    needs_tests(name, built)
    wanted = solve.specs(built.packages, solve.TEST_PACKAGE) + list(solve.COMPANIONS)
    reference = variant.platform.sdk is None
    if reference:
        wanted += cmake_tree.TOOLS
    install(layout, report, f"{name}-test", urls, wanted)
    prefix = layout.environment(f"{name}-test")
    if args.suite == arguments.OPINFO_FULL:
        # An interrupted run is carried on with the packages that it began with, and no others.
        folder = layout.artifacts / "opinfo" / sha256_text(build.record_file(layout, name).read_text())[:12]
        with report.stage("PyTorch's samples"):
            status = testing.run_opinfo(prefix, folder, args.jobs, report.as_json)
        report.say(f"opinfo.json and opinfo.svg are in {folder}")
        return status
    if not reference:
        status = test_accelerator(layout, report, variant, prefix, args)
        if variant.needs_libtorch and not args.flaggems:
            status = test_without_kernels(layout, report, variant, urls, wanted, args) or status
        return status
    statuses = []
    report.say("\ntests of the sources and the packages", style="bold")
    with report.stage("source tests"):
        statuses.append(
            testing.run_sources(
                layout, name, str(layout.seed) if layout.seed.as_uri() in urls else urls[1], args.jobs, report.as_json
            )
        )
    for stage, package in (("contract tests", testing.CONTRACT), ("PyTorch's samples", testing.OPINFO)):
        report.say(f"\n{stage}, on the installed packages", style="bold")
        with report.stage(stage):
            statuses.append(testing.run_installed(package, prefix, layout.work / package, args.jobs, report.as_json))
    if flaggems.is_built(built):
        statuses.append(test_flaggems(layout, report, name, args))
    statuses.append(ecosystem.run(layout, report, name, urls, wanted, args.jobs))
    if (layout.root / double.TESTS).is_dir():
        report.say("\nboxing, with the CPU in the part of a card", style="bold")
        with report.stage("boxing tests"):
            statuses.append(double.check(layout, prefix, args.jobs, report.as_json))
    if testing.has_sanitizers(layout):
        report.say("\nthe core under sanitizers", style="bold")
        with report.stage("sanitizers"):
            statuses.append(testing.run_sanitizers(layout, prefix, args.jobs, report.as_json))
    return next((status for status in statuses if status), 0)


def run() -> int:
    layout = Layout(bootstrap.ROOT)
    handover = json.loads(os.environ.pop(bootstrap.HANDOVER, "{}"))
    os.environ.pop("PYTHONPATH", None)
    args = arguments.parser().parse_args()
    report = Report(args.json, handover.get("stages"))
    error: str | None = None
    status = 1
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # children are ended before the driver is
    try:
        if "lock" in handover:
            lock.adopt(handover["lock"])
        else:
            lock.take(layout.artifacts)
        status = main(args, layout, report)
        remove(layout.work)  # after a failure it stays, to be looked at; the next run removes it
    except UserError as failure:
        error = str(failure)
    except OSError as failure:
        error = str(from_os_error(failure, layout.artifacts))
    except KeyboardInterrupt:
        error, status = "interrupted; the next run carries on.", 130
    if error:
        print(f"build-locally.py: {error}", file=sys.stderr)
    report.close(error)
    return status


if __name__ == "__main__":
    ending.leave(run())
