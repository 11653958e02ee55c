"""The packages, installed: found, complete, quiet, and not tied to the folder they were installed in."""

from __future__ import annotations

import json
import os

import tomllib

from flbuild import contents
from flbuild.contents import PLATFORM_LIBRARY
from flbuild.platforms import ROOT

COMPUTE = "import torch; x = torch.ones(2, device='flagos'); print((x + x).cpu().tolist(), x.device)"
COMPILED = """
import _imp, importlib.util, pathlib, torch_fl
for source in pathlib.Path(torch_fl.__file__).parent.rglob("*.py"):
    compiled = pathlib.Path(importlib.util.cache_from_source(source)).read_bytes()
    assert compiled[:4] == importlib.util.MAGIC_NUMBER and compiled[4] == 3, source
    assert compiled[8:16] == _imp.source_hash(importlib.util._RAW_MAGIC_NUMBER, source.read_bytes()), source
"""


def test_import_torch_alone_finds_the_device_and_says_nothing(environment):
    assert environment.python(COMPUTE) == "[2.0, 2.0] flagos:0"
    assert environment.python("import torch_fl, torch_flagos") == ""


def test_the_distribution_is_known_to_python(environment, runtime):
    code = """
import importlib.metadata as m
d = m.distribution("torch-fl")
print(d.version, (d.read_text("INSTALLER") or "").strip(), *[e.value for e in m.entry_points(group="torch.backends") if e.name == "flagos"])
assert all(f.locate().exists() for f in d.files), [str(f) for f in d.files if not f.locate().exists()]
"""
    assert environment.python(code) == f"{runtime.index['version']} conda _torch_fl_autoload:load"
    assert environment.run("python", "-m", "pip", "check").stdout.strip() == "No broken requirements found."


def test_the_console_script_and_the_module_say_the_same(environment):
    script = environment.run("torch-fl", "routes", "--json")
    module = environment.run("python", "-m", "torch_fl", "routes", "--json")
    assert (script.returncode, script.stderr) == (0, "") and json.loads(script.stdout)
    assert script.stdout == module.stdout


def test_compiled_python_is_current_by_the_hash_of_its_source(environment):
    environment.python(COMPILED)


def test_compatibility_json_states_the_build(environment, runtime):
    found = next(environment.prefix.glob("lib/python*/site-packages/torch_fl/compatibility.json"))
    facts = json.loads(found.read_text())
    torch = environment.python("import torch; print(torch.__version__.partition('+')[0], torch.compiled_with_cxx11_abi())")
    assert [facts["torch_version"], str(facts["torch_cxx11_abi"])] == torch.split()
    assert facts["python_requires"] == f"=={facts['python']}.*" and f"python{facts['python']}" in found.parts
    assert (facts["platform"], facts["emulated"], facts["emulated_sdk"]) == ("host", True, False)
    assert facts["kernel_sets"] == ["flaggems"]
    # Absent means unknown, and is never written as a word.
    assert not {"sdk_version", "vendor_torch_version", "bundled_libtorch", "flaggems_vendor"} & facts.keys()
    assert None not in facts.values() and "" not in facts.values()
    assert [PLATFORM_LIBRARY.fullmatch(name)[1] for name in runtime.files if PLATFORM_LIBRARY.fullmatch(name)] == [
        "host"
    ]


def test_every_package_that_was_compiled_carries_the_same_compatibility_json(packages):
    for group in contents.siblings(packages).values():
        texts = {}
        for package in group:
            if package.name in contents.SPLIT:
                (name,) = [name for name in package.files if name.endswith("/compatibility.json")]
                texts[package.name] = (package.root / name).read_text()
        assert "torch-fl-runtime" in texts and len(set(texts.values())) == 1, texts.keys()


def test_the_platforms_facts_are_installed_as_they_are_written(environment):
    found = next(environment.prefix.glob("lib/python*/site-packages/torch_fl/platform.json"))
    written = tomllib.loads((ROOT / "src/platforms/host/platform.toml").read_text())
    every = sorted(folder.parent.name for folder in ROOT.glob("src/platforms/*/platform.toml"))
    assert json.loads(found.read_text()) == written | {"known_platforms": every}


def test_an_environment_that_was_moved_still_works(environment):
    moved = environment.prefix.with_name("moved")
    os.rename(environment.prefix, moved)
    try:
        there = type(environment)(moved)
        assert there.python(COMPUTE) == "[2.0, 2.0] flagos:0"
        assert there.run("python", "-m", "torch_fl", "routes", "--json").returncode == 0
    finally:
        os.rename(moved, environment.prefix)


def test_the_contract_suite_is_importable_from_its_package(environment):
    done = environment.run(
        "python", "-m", "pytest", "--pyargs", "torch_fl_tests", "--collect-only", "-q", "-p", "no:cacheprovider"
    )
    assert done.returncode == 0, done.stdout[-2000:]
