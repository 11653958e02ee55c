"""From wheel metadata to recipes, and from wheels to files in a prefix."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from flbuild.seed import unpack, wheel
from flbuild.seed.wheel import Wheel

XY = "{}.{}".format(*sys.version_info[:2])


@pytest.mark.parametrize(
    ("requirement", "spec"),
    [
        ("torch", "pytorch"),
        ("Typing_Extensions>=4.8.0", "typing_extensions >=4.8.0"),
        ("huggingface.hub<3,>=1.0", "huggingface_hub <3,>=1.0"),
        ("numpy!=1.21,~=1.20", "numpy !=1.21,~=1.20"),
        ("nvidia-cublas===13.1.0.3", "nvidia-cublas ==13.1.0.3"),
        ("nvidia-cublas==13.1.0.3.*,!=13.1.*", "nvidia-cublas !=13.1.*,13.1.0.3.*"),
    ],
)
def test_specs(requirement: str, spec: str) -> None:
    assert wheel.conda_spec(Requirement(requirement)) == spec


def test_dependencies_follow_markers_and_extras(make_wheel) -> None:
    tool = Wheel.read(
        make_wheel(
            "tool", "1.0", {"tool.py": ""}, ("always", 'only-fast>=2; extra == "fast"', 'other; extra == "slow"')
        )
    )
    app = Wheel.read(
        make_wheel(
            "app", "2.0", {"app.py": ""}, ("tool[fast]>=1", 'old; python_version < "3"', 'win; sys_platform == "win32"')
        )
    )
    known = {w.name: w for w in (tool, app)}
    assert wheel.dependencies(app, known) == ["tool >=1", "only-fast >=2"]
    assert wheel.dependencies(tool, known) == ["always"]


def whole(known: Wheel, others: dict[str, Wheel] | None = None, code: str = "code") -> dict:
    """The one recipe of a wheel that is one package."""
    (made,) = wheel.recipes(known, others or {}, code)
    return made


def test_the_build_string_is_a_digest_of_the_content(make_wheel) -> None:
    first = whole(Wheel.read(make_wheel("app", "2.0", {"app.py": "a = 1"})), code="code")
    again = whole(Wheel.read(make_wheel("app", "2.0", {"app.py": "a = 1"})), code="code")
    other = whole(Wheel.read(make_wheel("app", "2.0", {"app.py": "a = 2"})), code="code")
    newer = whole(Wheel.read(make_wheel("app", "2.0", {"app.py": "a = 2"})), code="other code")
    names = [wheel.file_name(r) for r in (first, again, other, newer)]
    assert names[0] == names[1] and len(set(names)) == 3
    assert names[0].startswith(f"app-2.0-py{XY.replace('.', '')}_h")


def test_torch_is_two_packages_with_run_exports_and_without_its_local_version(make_wheel) -> None:
    """As on conda-forge the native core is apart, so that another provider of it can take its place."""
    torch = Wheel.read(make_wheel("torch", "2.13.0+cpu", {"torch/__init__.py": "", "torch/lib/libtorch.so": "elf"}))
    core, made = wheel.recipes(torch, {}, "code")
    assert (core["package"], made["package"]) == ({"name": "libtorch", "version": "2.13.0"}, {"name": "pytorch", "version": "2.13.0"})
    assert "pin_subpackage('pytorch', upper_bound='x.x')" in made["requirements"]["run_exports"][0]
    assert f"python_abi {XY}.* *_cp{XY.replace('.', '')}" in made["requirements"]["run"]
    assert "libtorch ==2.13.0" in made["requirements"]["run"]  # of whichever build


def test_the_parts_of_a_wheel_are_the_whole(make_wheel, tmp_path: Path) -> None:
    files = {"torch/__init__.py": "", "torch/lib/libtorch.so": "elf", "torch/lib/libgomp.so.1": "elf", "torch/lib/note.txt": ""}
    torch, pattern = make_wheel("torch", "2.13.0", files), wheel.PARTS["torch"][1]
    unpack.main(torch, tmp_path / "whole")
    unpack.main(torch, tmp_path / "core", only=pattern)
    unpack.main(torch, tmp_path / "rest", without=pattern)
    whole, core, rest = (
        {f.relative_to(tmp_path / part).as_posix() for f in (tmp_path / part).rglob("*") if f.is_file()} for part in ("whole", "core", "rest")
    )
    assert {Path(name).name for name in core} == {"libtorch.so", "libgomp.so.1"}
    assert core | rest == whole and not core & rest


def test_a_licence_that_is_no_expression_is_a_reference() -> None:
    assert wheel.spdx("Apache-2.0 AND MIT") == "Apache-2.0 AND MIT"
    assert wheel.spdx("The Great Licence, see file") == wheel.LICENSE_UNKNOWN


def test_licences_go_with_the_recipe(make_wheel, tmp_path: Path) -> None:
    files = {
        "app.py": "",
        "app/licenses/no": "",
        "app-2.0.dist-info/licenses/LICENSE": "ours",
        "app-2.0.dist-info/licenses/bundled/x/NOTICE.txt": "theirs",
        "app-2.0.dist-info/COPYING.LESSER": "old place",
    }
    known = Wheel.read(make_wheel("app", "2.0", files))
    known.extract_licenses(tmp_path / "licenses")
    found = {f.relative_to(tmp_path).as_posix(): f.read_text() for f in tmp_path.rglob("licenses/**/*") if f.is_file()}
    assert found == {
        "licenses/LICENSE": "ours",
        "licenses/bundled/x/NOTICE.txt": "theirs",
        "licenses/COPYING.LESSER": "old place",
    }
    assert whole(known)["about"]["license_file"] == "licenses/"
    assert "license_file" not in whole(Wheel.read(make_wheel("bare", "1", {"b.py": ""})), code="code")["about"]


def test_unpacking(make_wheel, tmp_path: Path) -> None:
    file = make_wheel(
        "app",
        "2.0",
        {
            "app/__init__.py": "def main():\n    print('it runs')\n",
            "app-2.0.data/data/share/app/x.txt": "x",
            "app-2.0.data/scripts/old": "#!python\nprint(1)\n",
        },
        entry_points="[console_scripts]\napp = app:main\n",
    )
    prefix = tmp_path / "prefix"
    unpack.main(file, prefix)
    (prefix / "bin/python").symlink_to(sys.executable)
    packages = prefix / f"lib/python{XY}/site-packages"
    assert (prefix / "share/app/x.txt").read_text() == "x"
    assert list((packages / "app/__pycache__").glob("*.pyc"))
    assert (packages / "app-2.0.dist-info/INSTALLER").read_text().strip() == "conda"
    for script, said in (("app", "it runs"), ("old", "1")):
        done = subprocess.run(
            [prefix / "bin" / script], env={"PYTHONPATH": str(packages)}, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == said


def test_a_program_comes_without_its_python_wrapper(make_wheel, tmp_path: Path) -> None:
    file = make_wheel(
        "ninja", "1.0", {"ninja/__init__.py": "", "ninja-1.0.data/scripts/ninja": "#!/bin/sh\necho ninja\n"}
    )
    unpack.main(file, tmp_path / "prefix")
    assert [p.name for p in (tmp_path / "prefix").iterdir()] == ["bin"]
    assert subprocess.check_output([tmp_path / "prefix/bin/ninja"], text=True) == "ninja\n"
    assert whole(Wheel.read(file))["requirements"]["run"] == []


def test_headers_that_another_wheel_s_include_come_with_it(make_wheel) -> None:
    both = [Wheel.read(make_wheel(name, "13.0", {"x.h": ""})) for name in ("nvidia_cuda_runtime", "nvidia_cuda_crt")]
    known = {w.name: w for w in both}
    assert whole(both[0], known)["requirements"]["run"][-1] == "nvidia-cuda-crt"
    assert "nvidia-cuda-crt" not in whole(both[0], {both[0].name: both[0]})["requirements"]["run"]
