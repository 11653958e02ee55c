"""The same sources, built twice in the same folder, give packages that install the same bytes."""

from __future__ import annotations

import shutil

from torch_fl_lab import payload

VARIANT = "plain-3.8.1.3-emulated"  # has every output of the recipe that a platform can have


def payloads(folder) -> dict[str, str]:
    return {path.name: payload.digest(path) for path in sorted(folder.glob("*/*.conda"))}


def files(folder) -> set[tuple[str, str, str]]:
    """Package, path and sha256 of all that the packages install."""
    return {(package.name, *pair) for package in folder.glob("*/*.conda") for pair in payload.files(package).items()}


def test_a_second_build_in_the_same_folder_has_the_same_payloads_and_other_sources_have_others(miniature, tmp_path):
    output = miniature.build([VARIANT], tmp_path / "out")
    first, before = payloads(output), files(output)
    shutil.rmtree(output)
    miniature.build([VARIANT], output)
    assert sorted(files(output) ^ before) == []
    assert payloads(output) == first
    names = {name.partition("-0.1.0-")[0] for name in first}
    assert {"torch-fl", "torch-fl-runtime", "torch-fl-vendor-kernels", "torch-fl-emulated-sdk", "torch-fl-tests", "torch-fl-lab"} <= names

    core = miniature.tree / "src" / "core.c"
    text = core.read_text()
    try:
        core.write_text(text + "\nint one_more(void) { return 1; }\n")
        shutil.rmtree(output)
        third = payloads(miniature.build([VARIANT], output))
    finally:
        core.write_text(text)
    assert {name.partition("-0.1.0-")[0] for name, digest in first.items() if third[name] != digest} == {"torch-fl-runtime"}
