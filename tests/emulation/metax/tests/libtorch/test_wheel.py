"""make_wheel.py: what the emulated wheel consists of."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "libtorch" / "make_wheel.py"


def test_the_wheel_has_the_forks_libraries_and_says_whose_they_are(wheel, stock, patchelf):
    import make_wheel

    lib = wheel / "torch" / "lib"
    assert {*make_wheel.CORE, *make_wheel.DEVICE} <= {entry.name for entry in lib.iterdir()}
    assert "libtorch_cuda.so" in make_wheel.needed(lib / "libtorch.so", patchelf)
    assert "libtorch_cuda.so" not in make_wheel.needed(stock / "lib" / "libtorch.so", patchelf)
    [facts] = wheel.glob("torch-*+metax3.8.1.3.dist-info")
    assert facts.name[6:-10] in (wheel / "torch" / "version.py").read_text()


def test_its_libraries_find_everything_beside_them_or_at_the_drivers(wheel, patchelf):
    for name in ("libc10_cuda.so", "libtorch_cuda.so", "libtorch_cuda_linalg.so"):
        library = wheel / "torch" / "lib" / name
        rpath = subprocess.run([patchelf, "--print-rpath", library], check=True, capture_output=True, text=True).stdout.strip()
        assert rpath.split(":") == ["$ORIGIN", "/opt/maca/lib", "/opt/maca/lib64"]
    command = ["nm", "-D", "--undefined-only", str(wheel / "torch" / "lib" / "libtorch_cuda.so")]
    undefined = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert " cudaMemcpyAsync\n" in undefined and " mcMemcpyAsync\n" not in undefined


def test_python_is_told_of_no_cuda_and_the_core_is(passes):
    passes(
        """
        import ctypes
        assert not torch.cuda.is_available() and torch.accelerator.current_accelerator() == torch.device(D)
        assert ctypes.CDLL("libtorch_cuda.so")._ZN2at4maca8emulatedEv()
        """
    )


def test_what_is_missing_is_named(tmp_path, stock):
    command = [sys.executable, str(PROGRAM), "--torch", str(stock), "--libraries", str(tmp_path), "--output", str(tmp_path / "out")]
    done = subprocess.run([*command, "--patchelf", "patchelf"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and f"{tmp_path}{os.sep}libtorch_cuda.so" in done.stderr and "build PyTorch's part" in done.stderr
