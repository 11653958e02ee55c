"""The packages of platforms that fill every output: each staged file in one of them, built for the right SDK."""

from __future__ import annotations

import pytest

from flbuild import contents
from flbuild.elf import Elf

VARIANTS = {
    "host": "host-",
    "stub_stubsdk128": "stub-12.8",
    "stub_stubsdk1301": "stub-13.0.1",
    "plain_psdk3813": "plain-3.8.1.3",
    "plain_psdk3813_emu": "plain-3.8.1.3",
}


@pytest.fixture(scope="module")
def packages(channel, tmp_path_factory):
    return contents.unpack_channel(channel, tmp_path_factory.mktemp("unpacked"))


def test_nothing_is_wrong_with_the_channel(channel, miniature, tmp_path):
    assert contents.problems(channel, tmp_path, miniature.tree) == []


def test_every_variant_has_its_packages_and_no_other(packages):
    names = {variant: {p.name for p in packages if p.variant == variant} for variant in VARIANTS}
    always = {"torch-fl", "torch-fl-runtime", "torch-fl-platform"}
    assert names == {
        "host": always | {"torch-fl-flaggems"},
        "plain_psdk3813": always | {"torch-fl-vendor-kernels"},
        "plain_psdk3813_emu": always | {"torch-fl-vendor-kernels", "torch-fl-emulated-sdk"},
        "stub_stubsdk128": always | {"torch-fl-vendor-kernels", "torch-fl-flaggems"},
        "stub_stubsdk1301": always | {"torch-fl-vendor-kernels", "torch-fl-flaggems"},
    }
    for noarch in ("torch-fl-tests", "torch-fl-triton-host"):
        assert len([package for package in packages if package.name == noarch]) == 1


def test_flaggems_needs_what_platform_toml_pins(packages):
    """And an emulated platform, whose Triton has no card, the back end that runs kernels on the host."""
    ordinary = {"torch-fl-runtime", "pytorch", "libtorch", "python_abi", "__glibc"}
    needs = {
        package.variant: {spec for spec in package.index["depends"] if spec.split()[0] not in ordinary}
        for package in packages
        if package.name == "torch-fl-flaggems"
    }
    card = {"flag-gems 5.0.*", "flagtree 0.5.*", "pydantic >=2"}
    version = next(package.index["version"] for package in packages if package.name == "torch-fl-runtime")
    assert needs == {
        "host": {"flag-gems ==5.0.2", "triton 3.7.*", "pydantic >=2", f"torch-fl-triton-host =={version}"},
        "stub_stubsdk128": card,
        "stub_stubsdk1301": card,
    }


def test_libraries_were_compiled_for_their_variant(packages):
    runtimes = [package for package in packages if package.name == "torch-fl-runtime"]
    assert len(runtimes) == len(VARIANTS)
    for package in runtimes:
        for library in package.libraries:
            if library.path.name.startswith("libtorch_fl"):
                assert f"built-for:{VARIANTS[package.variant]}\0".encode() in library.path.read_bytes(), library.path


def test_each_variant_is_compiled_once_for_all_its_packages(channel):
    """An output that sees fewer variant keys than the others would have a compile of its own."""
    assert len(list((channel / "build_cache").glob("staging_*"))) == len(VARIANTS)


def test_siblings_are_pinned_exactly_and_once(packages):
    for group in contents.siblings(packages).values():
        runtime = group[0]
        for package in group[1:]:
            if package.index.get("noarch") or package.name == contents.EMULATED_SDK:
                continue
            pins = [spec for spec in package.index["depends"] if spec.split()[0] == "torch-fl-runtime"]
            assert pins == [f"torch-fl-runtime =={runtime.index['version']} {runtime.build}"], package.file.name


# The checks themselves must be able to fail.


def test_a_file_that_no_package_took_is_reported(packages):
    group = next(g for g in contents.siblings(packages).values() if g[0].variant == "stub_stubsdk128")
    assert contents.partition_problems(group) == []
    without = [package for package in group if package.name != "torch-fl-vendor-kernels"]
    assert contents.partition_problems(without) == [
        f"{name}: staged for stub_stubsdk128, and in none of its packages"
        for name in ("lib/libtorch_fl_stub.so", "share/torch-fl/torch-fl-vendor-kernels/compatibility.json")
    ]
    twice = [*group, next(package for package in group if package.name == "torch-fl-flaggems")]
    assert any("in 2 packages" in line for line in contents.partition_problems(twice))


def test_links_outside_the_list_and_idle_entries_are_reported(packages):
    group = next(g for g in contents.siblings(packages).values() if g[0].variant == "stub_stubsdk1301")
    assert contents.link_problems(group, ["libstubdriver.so*", "libstubrt.so.*"]) == []
    found = contents.link_problems(group, ["libstubrt.so.*", "libother.so*"])
    assert found == [
        "libtorch_fl_platform_stub.so: needs libstubdriver.so.1, which platform.toml does not allow",
        "platform.toml: sonames has libother.so*, which no library of stub_stubsdk1301 needs",
    ]


def test_an_absolute_run_path_and_a_build_path_are_reported(packages, tmp_path):
    package = contents.Package.unpack(next(p.file for p in packages if p.name == "torch-fl-runtime"), tmp_path)
    record = next(r for r in package.records if r["_path"].endswith("compatibility.json"))
    (package.root / record["_path"]).write_text('{"from": "/tmp/bld/rattler-build_torch-fl_1/work/src"}')
    assert [line for line in contents.path_problems(package, []) if "rattler-build_torch-fl_1" in line]

    class Absolute(Elf):
        run_paths = property(lambda self: ["/opt/build/lib"])

    package.__dict__["libraries"] = [Absolute(library.path) for library in package.libraries]
    assert [line for line in contents.path_problems(package, []) if "/opt/build/lib is not below $ORIGIN" in line]
    assert not [line for line in contents.path_problems(package, ["/opt/build/lib"]) if "run path" in line]

    class Reversed(Elf):
        run_paths = property(lambda self: ["/opt/build/lib", "$ORIGIN"])

    package.__dict__["libraries"] = [Reversed(library.path) for library in package.libraries]
    assert [line for line in contents.path_problems(package, ["/opt/build/lib"]) if "after a folder of the SDK" in line]


def test_the_loader_finds_the_vendors_sdk_in_its_default_folder_and_the_emulated_one_beside(packages):
    run_paths = {
        package.variant: [path.rstrip("/") for path in library.run_paths]
        for package in packages
        for library in package.libraries
        if library.path.name == "libtorch_fl_platform_plain.so"
    }
    assert run_paths == {"plain_psdk3813": ["$ORIGIN", "/opt/plain/lib"], "plain_psdk3813_emu": ["$ORIGIN"]}


def test_what_runs_on_an_emulated_sdk_is_never_published(channel, packages, miniature, tmp_path):
    refused = {package.file.name for package in packages if contents.publishing_problems(package)}
    assert refused == {package.file.name for package in packages if package.variant == "plain_psdk3813_emu"}
    found = contents.problems(channel, tmp_path, miniature.tree, publish=True)
    assert {line.split(":")[0] for line in found} == refused


def test_every_package_of_a_compile_says_what_it_is_for(packages):
    for group in contents.siblings(packages).values():
        for package in (package for package in group if package.name in contents.SPLIT):
            (name,) = [name for name in package.files if name.endswith("/compatibility.json")]
            assert name.startswith(("share/torch-fl/", "lib/python")) and contents.identity_problems(group[0]) == []


def test_an_outgrown_budget_is_reported(packages, tmp_path):
    package = next(p for p in packages if p.name == "torch-fl-runtime")
    (tmp_path / "recipe").mkdir()
    (tmp_path / "recipe" / "size_budget.toml").write_text("[torch-fl-runtime]\npackage = 10\ninstalled = 10\n")
    assert len(contents.size_problems(package, tmp_path)) == 2
    (tmp_path / "recipe" / "size_budget.toml").write_text("")
    assert "has no entry" in contents.size_problems(package, tmp_path)[0]
