"""The build's search for the vendor's SDK."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

FINDER = Path(__file__).resolve().parents[5] / "src" / "platforms" / "musa" / "sdk.cmake"


@pytest.mark.skipif(not shutil.which("cmake"), reason="no cmake")
def test_a_missing_toolkit_is_one_sentence_with_what_is_missing_and_what_to_do(tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "musa_runtime.h").touch()
    result = subprocess.run(
        ["cmake", f"-DTORCH_FL_SDK_ROOT={tmp_path}", "-P", str(FINDER)],
        env={name: value for name, value in os.environ.items() if not name.startswith("MUSA_")} | {"MUSA_HOME": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    said = re.sub(r"\s+", " ", result.stderr)
    roots = f"{tmp_path}, /nowhere, /usr/local/musa"
    assert (
        f"TORCH_FL_PLATFORM=musa needs the MUSA toolkit: libmusart.so, libmudnn.so, libmurand.so not found in {roots};" in said
    )
    assert "set MUSA_HOME to the folder that holds its include and lib" in said
