"""What runs rattler-build, in a process of its own: `python -m flbuild.worker JOB.json`.

A job is `{"kind": "seed" | "build" | "test", ...}`; each kind is a function below. Progress goes to standard output,
one word and its arguments a line; everything else, the tools' own errors included, to standard error, which is the log.
A process of its own, because rattler-build holds the interpreter (Ctrl-C would wait for the compile) and reads its
cache folder from the environment.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from pathlib import Path

from rattler_build import Package, RattlerBuildError
from rattler_build.cli_api import build_recipes

from flbuild.digest import sha256_file


def build_one(recipe: str, **options) -> None:
    with warnings.catch_warnings():  # the supported call shares no compile between outputs
        warnings.simplefilter("ignore", DeprecationWarning)
        build_recipes(
            [recipe], package_format="conda:1", ignore_recipe_variants=True, no_include_recipe=True, **options
        )


def seed(recipes: list[dict], output: str, store: str) -> None:
    """Build recipes one by one; each package is moved to the store when it is whole."""
    for item in recipes:
        build_one(item["recipe"], variant_config=item["variants"], channel=[], test="skip", output_dir=output)
        for package in [*Path(output, "linux-64").glob("*.conda"), *Path(output, "noarch").glob("*.conda")]:
            package.chmod(0o644)
            target = Path(store, package.parent.name, package.name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.with_name(target.name + ".sha256").write_text(sha256_file(package))
            os.replace(package, target)
        print("built", item["name"], flush=True)


def build(recipe: str, variants: list[str], channels: list[str], output: str) -> None:
    """Build the product. Its tests are a job of their own, since only there can their output be had."""
    build_one(recipe, variant_config=variants, channel=channels, test="skip", output_dir=output, no_build_id=True)


def test(packages: list[str], channels: list[str]) -> None:
    """Run the tests that the packages carry."""
    for file in packages:
        package = Package.from_file(file)
        print("testing", package.name, flush=True)
        for index in range(package.test_count):
            title = f"{package.name}, test {index}"
            try:
                result = package.run_test(index, channel=channels)
                output, passed = "\n".join(result.output), result.success
            except RattlerBuildError as error:
                output, passed = str(error), False
            print(f"== {title}: {'passed' if passed else 'FAILED'}\n{output}", file=sys.stderr, flush=True)
            if not passed:
                sys.exit(f"== {title}: FAILED")


def main(job_file: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    job = json.loads(Path(job_file).read_text())
    {"seed": seed, "build": build, "test": test}[job.pop("kind")](**job)


if __name__ == "__main__":
    main(sys.argv[1])
