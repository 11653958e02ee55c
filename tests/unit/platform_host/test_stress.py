"""Eight threads at once; stress.cpp says how to run it under the sanitizers."""

import subprocess

import pytest


@pytest.fixture(scope="session")
def program(compile_helper, tmp_path_factory):
    return compile_helper("stress.cpp", tmp_path_factory.mktemp("stress") / "stress", "-std=c++20")


@pytest.mark.parametrize("guard", ["0", "1"])
def test_eight_threads(environment, library, platform_id, program, guard):
    result = subprocess.run(
        [program, library, "150" if platform_id == "host" else "30"],
        check=False,
        env=environment | {"FLAGOS_HOST_GUARD": guard},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "calls 1 failures 1\n", "")
