"""What the documentation says is tried in an installed environment."""

import os

import pytest


@pytest.fixture(scope="session")
def installed_python() -> str:
    """The interpreter of the environment that TORCH_FL_ENVIRONMENT names."""
    prefix = os.environ.get("TORCH_FL_ENVIRONMENT")
    if not prefix:
        if os.environ.get("CI"):
            pytest.fail("TORCH_FL_ENVIRONMENT is not set; run `python3 build-locally.py --test`")
        pytest.skip("TORCH_FL_ENVIRONMENT names no environment; run `python3 build-locally.py --test`")
    return f"{prefix}/bin/python"
