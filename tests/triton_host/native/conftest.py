import pytest
from torch_fl_triton_host import native

from .support import Builder


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """Compiles kernels with the system's compiler into a folder of this session."""
    if native.compiler() is None:
        pytest.skip("no C compiler")
    return Builder(tmp_path_factory.mktemp("native"))
