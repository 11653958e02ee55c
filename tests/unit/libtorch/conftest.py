"""A vendor's wheel and an environment with the official PyTorch, in libraries of one function each."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from flbuild.libtorch.official import Official
from flbuild.platforms import Libtorch, find, load_all

FOLDER = "lib/python3.12/site-packages/torch/lib"


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory):
    """Compiles one C++ library: `library(folder, "libx.so", exports=["int f()"], needs=[other])`."""

    def compile(folder: Path, name: str, exports: list[str] = [], needs: list[Path] = []) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / f"{name}.cpp"
        bodies = [f'__attribute__((visibility("default"))) {export} {{ return 0; }}' for export in exports]
        source.write_text("#include <string>\n" + "\n".join(bodies) + "\n")
        command = ["g++", "-shared", "-fPIC", "-Wl,--no-as-needed", f"-Wl,-soname,{name}", "-o", folder / name, source, *needs]
        subprocess.run(command, check=True, capture_output=True, text=True)
        source.unlink()
        return folder / name

    return compile


@pytest.fixture(scope="session")
def compiled(library, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vendor's build, the driver's library and the official one, compiled once."""
    folder = tmp_path_factory.mktemp("compiled")
    lib = folder / "vendor" / "torch" / "lib"
    libmc = library(folder / "driver", "libmcruntime.so", ["int mc()"])
    libc10 = library(lib, "libc10.so", ["int c10(std::string)", "int core()"])
    cpu = library(lib, "libtorch_cpu.so", ["int at()"], [libc10])
    gomp = library(lib, "libgomp-0123.so.1", ["int omp()"])
    cuda = library(lib, "libtorch_cuda.so", ["int cuda()"], [cpu, libmc, gomp])
    library(lib, "libtorch.so", [], [cpu, cuda])
    library(lib, "libtorch_python.so", ["int py()"], [cpu])
    library(lib, "libunused.so")
    (lib.parent / "version.py").write_text('from typing import Optional\n__version__ = "2.10.0+metal3.8.1.3"\n')
    for name in ("libc10.so", "libtorch_cpu.so"):
        (folder / "official" / FOLDER).mkdir(parents=True, exist_ok=True)
        shutil.copy(lib / name, folder / "official" / FOLDER / name)
    return folder


@pytest.fixture
def torch(compiled: Path, tmp_path: Path) -> Path:
    """The folder `torch` of a vendor's build: core, device and what that needs of the driver."""
    shutil.copytree(compiled, tmp_path, dirs_exist_ok=True)
    return tmp_path / "vendor" / "torch"


@pytest.fixture
def wheel(torch: Path) -> Path:
    """The same as a wheel."""
    file = torch.parents[1] / "torch-2.10.0+metal3.8.1.3-cp312-cp312-linux_x86_64.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for path in [torch / "version.py", *(torch / "lib").iterdir()]:
            archive.write(path, path.relative_to(torch.parent))
        archive.writestr("torch/__init__.py", "")
    return file


@pytest.fixture
def official(torch: Path, tmp_path: Path) -> Official:
    """An environment with PyTorch 2.10.0, whose libtorch_python belongs to the package pytorch."""
    prefix = tmp_path / "official"
    files = {"libtorch": ["libc10.so", "libtorch_cpu.so"], "pytorch": ["libtorch_python.so"]}
    (prefix / "conda-meta").mkdir(parents=True)
    for name, libraries in files.items():
        record = {"version": "2.10.0", "files": [f"{FOLDER}/{file}" for file in libraries]}
        (prefix / "conda-meta" / f"{name}-2.10.0-0.json").write_text(json.dumps(record))
    return Official.read(prefix)


@pytest.fixture
def variant():
    """A platform with a core of its own, made of a platform of the tree."""
    made = find("musa-5.1.0", load_all())
    libtorch = {
        "core": ["libc10.so", "libtorch_cpu.so", "libtorch.so", "libtorch_python.so"],
        "device": ["libtorch_cuda.so"],
        "optional": ["libshm.so"],
        "driver": ["libmcruntime.so*"],
    }
    platform = made.platform.model_copy(update={"libtorch": Libtorch.model_validate(libtorch)})
    return made.model_copy(update={"platform": platform})
