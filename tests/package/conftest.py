"""The built channel, its unpacked packages, and one environment installed from them.

TORCH_FL_CHANNEL names another channel folder, TORCH_FL_SEED_CHANNEL the channel (folder or URL) of the dependencies,
TORCH_FL_FLAGGEMS_CHANNEL the folder of the one with FlagGems and Triton.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from rattler import RepoDataRecord, VirtualPackage, VirtualPackageOverrides, install, solve

from flbuild import contents

ROOT = Path(__file__).resolve().parents[2]
ARTIFACTS = ROOT / "build_artifacts"


def needed_folder(variable: str, default: Path) -> Path:
    """A channel folder; on CI a missing one is a failure and never a skip."""
    folder = Path(os.environ.get(variable) or default)
    if not list(folder.glob("*/repodata.json")):
        reason = f"no channel in {folder} ({variable}): run `python3 build-locally.py` first"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return folder


@pytest.fixture(scope="session", autouse=True)
def package_cache(tmp_path_factory: pytest.TempPathFactory):
    """Unpacked dependencies are shared with the build where it left them; nothing lands in the home folder."""
    shared = ARTIFACTS / "cache" / "packages"
    folder = os.environ.get("RATTLER_CACHE_DIR") or (shared if shared.is_dir() else tmp_path_factory.mktemp("cache"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RATTLER_CACHE_DIR", str(folder))
        yield


@pytest.fixture(scope="session")
def channel() -> Path:
    return needed_folder("TORCH_FL_CHANNEL", ARTIFACTS / "channel")


@pytest.fixture(scope="session")
def base_channel() -> str:
    named = os.environ.get("TORCH_FL_SEED_CHANNEL", "")
    return named if "://" in named else needed_folder("TORCH_FL_SEED_CHANNEL", ARTIFACTS / "seed").as_uri()


@pytest.fixture(scope="session")
def flaggems_channel() -> Path:
    return needed_folder("TORCH_FL_FLAGGEMS_CHANNEL", ARTIFACTS / "seed-flaggems")


@pytest.fixture(scope="session")
def packages(channel: Path, tmp_path_factory: pytest.TempPathFactory) -> list[contents.Package]:
    return contents.unpack_channel(channel, tmp_path_factory.mktemp("unpacked"))


@pytest.fixture(scope="session")
def runtime(packages: list[contents.Package]) -> contents.Package:
    """The runtime of the emulated platform: the one that any machine can install."""
    return next(package for package in packages if package.name == "torch-fl-runtime" and package.variant == "host")


@pytest.fixture(scope="session")
def flaggems(packages: list[contents.Package]) -> contents.Package:
    """The FlagGems bridge of the emulated platform."""
    return next(package for package in packages if package.name == "torch-fl-flaggems" and package.variant == "host")


@dataclass(frozen=True)
class Environment:
    prefix: Path

    def run(self, *command: str, **extra: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment by its full path, without activation and with a bare set of variables."""
        variables = {"PATH": "/usr/bin:/bin", "HOME": str(self.prefix.parent), "LANG": "C.UTF-8", **extra}
        program = str(self.prefix / "bin" / command[0])
        return subprocess.run(
            [program, *command[1:]],
            env=variables,
            cwd=self.prefix.parent,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def python(self, code: str, **extra: str) -> str:
        """What a piece of Python prints; its standard error must stay empty."""
        done = self.run("python", "-c", code, **extra)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout.strip()


def solved(channels: list[str], specs: list[str]) -> list[RepoDataRecord]:
    virtual = VirtualPackage.detect(VirtualPackageOverrides.from_env())
    return asyncio.run(solve(channels, specs, virtual_packages=virtual))


def make_environment(prefix: Path, channels: list[str], specs: list[str]) -> Environment:
    asyncio.run(install(solved(channels, specs), prefix, show_progress=False))
    return Environment(prefix)


@pytest.fixture(scope="session")
def environment(channel: Path, base_channel: str, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The emulated platform, installed as a person would: by the metapackage's name."""
    specs = ["torch-fl", "torch-fl-platform * host_*", "torch-fl-tests", "torch-fl-lab", "pip"]
    return make_environment(tmp_path_factory.mktemp("environment") / "prefix", [channel.as_uri(), base_channel], specs)


@pytest.fixture(scope="session")
def bare_environment(base_channel: str, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Python with PyTorch and numpy, and nothing of the project."""
    prefix = tmp_path_factory.mktemp("bare") / "prefix"
    return make_environment(prefix, [base_channel], ["python", "pytorch", "numpy"])


@pytest.fixture(scope="session")
def solve_host(channel: Path, base_channel: str, flaggems_channel: Path):
    """A function from match specs to {name: version} of the emulated platform, with all there is to choose from."""

    def run(*specs: str) -> dict[str, str]:
        channels = [channel.as_uri(), base_channel, flaggems_channel.as_uri()]
        records = solved(channels, [*specs, "torch-fl-platform * host_*"])
        return {record.name.normalized: str(record.version) for record in records}

    return run


@pytest.fixture(scope="session")
def flaggems_environment(
    channel: Path, base_channel: str, flaggems_channel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    """The emulated platform with FlagGems, and nothing of the tests."""
    channels = [channel.as_uri(), base_channel, flaggems_channel.as_uri()]
    specs = ["torch-fl", "torch-fl-flaggems", "torch-fl-platform * host_*", "pip"]
    return make_environment(tmp_path_factory.mktemp("flaggems") / "prefix", channels, specs)
