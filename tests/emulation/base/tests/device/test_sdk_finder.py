"""The build's search for the vendor's SDK."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import processes
import pytest

PLATFORMS = Path(__file__).resolve().parents[5] / "src" / "platforms"


@pytest.mark.skipif(not shutil.which("cmake"), reason="no cmake")
def test_a_missing_toolkit_is_one_sentence_with_what_is_missing_and_what_to_do(tmp_path, sdk):
    header = tmp_path / sdk["probe"]
    header.parent.mkdir(parents=True)
    header.touch()
    platform, title, variable = processes.platform(), sdk["title"], sdk["root_variable"]
    dropped = tuple(f"{name}_" for name in sdk["root_prefixes"])
    result = subprocess.run(
        ["cmake", f"-DTORCH_FL_SDK_ROOT={tmp_path}", "-P", str(PLATFORMS / platform / "sdk.cmake")],
        env={name: value for name, value in os.environ.items() if not name.startswith(dropped)} | {variable: "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    said = re.sub(r"\s+", " ", result.stderr)
    roots = f"{tmp_path}, /nowhere, {sdk['root']}"
    assert f"TORCH_FL_PLATFORM={platform} needs the {title} toolkit: {', '.join(sdk['missing'])} not found in {roots};" in said
    assert f"set {variable} to the folder that holds its include and lib" in said
