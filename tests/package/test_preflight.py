"""What every package says of itself is what torch-fl-preflight reads, and the installed command agrees with the channel."""

from __future__ import annotations

import json

from torch_fl_lab.preflight import archives, facts

# Packages that have nothing of a platform in them: they select, or are for all.
PLAIN = {"torch-fl-platform", "torch-fl-tests", "torch-fl-triton-host", "torch-fl-lab"}


def test_each_package_with_something_of_a_platform_says_what_it_is(packages):
    for package in packages:
        if package.name in PLAIN or package.name.endswith("-version"):
            assert (found := archives.read(package.file)).document is None and found.for_all
            continue
        found = archives.read(package.file)
        said = facts.read(found.document, package.file.name)
        assert package.build.startswith(said.platform) and said.emulated_sdk == ("_emu" in package.build)
        assert found.requires == package.index["depends"]


def test_the_installed_command_looks_at_its_environment(environment):
    done = environment.run("torch-fl-preflight", "--prefix", str(environment.prefix), "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    artifacts = {artifact["artifact"]: artifact for artifact in json.loads(done.stdout)["artifacts"]}
    assert artifacts.keys() == {"torch-fl", "torch-fl-runtime"}
    assert all(artifact["facts"]["platform"] == "host" and artifact["problems"] == [] for artifact in artifacts.values())
    done = environment.run("torch-fl-preflight", "--prefix", str(environment.prefix), "--platform", "cuda")
    assert done.returncode == 1 and "it is for host and cuda is asked for" in " ".join(done.stdout.split())
