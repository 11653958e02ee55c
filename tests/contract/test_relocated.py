"""An environment that was moved and cannot be written to: laboratories share one from a read-only folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PREFIX = Path(sys.prefix)
pytestmark = pytest.mark.skipif(not (PREFIX / "conda-meta").is_dir(), reason="this Python is not that of an environment of packages")

PROGRAM = """
import sys
import torch
from torch import nn
prefix = sys.argv[1]
net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)).to("flagos")
step = torch.optim.AdamW(net.parameters())
for _ in range(2):
    with torch.autocast("flagos", dtype=torch.bfloat16):
        loss = net(torch.ones(4, 8, device="flagos")).float().pow(2).mean()
    loss.backward()
    step.step()
assert torch.isfinite(loss).item()
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "/" in line}
ours = [name for name in loaded if "/torch/lib/" in name or "libtorch_fl" in name]
assert len(ours) > 3 and all(name.startswith(prefix) for name in ours), ours
print(len(ours) > 3)
"""
MOUNT = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && ! touch "$0/probe" 2>/dev/null && exec "$@"'


def read_only(prefix: Path) -> list[str] | None:
    """What makes a folder read-only for a program, put before its command; None where this machine has no way."""
    unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    begin = [*unshare, "sh", "-c", MOUNT, str(prefix)]
    try:
        works = subprocess.run([*begin, "true"], capture_output=True, timeout=20, check=False).returncode == 0
    except OSError:
        works = False
    return begin if works else None


@pytest.fixture(scope="module")
def moved(tmp_path_factory) -> Path:
    """A copy of this environment in another folder; its files are links, where the disk has them."""
    place = tmp_path_factory.mktemp("moved") / "environment"

    def link(source, target):
        try:
            os.link(source, target, follow_symlinks=False)
        except OSError:
            shutil.copy2(source, target, follow_symlinks=False)

    shutil.copytree(PREFIX, place, symlinks=True, copy_function=link, ignore=shutil.ignore_patterns("pkgs", "include"))
    return place


def run(moved: Path, before: list[str], tmp_path: Path) -> subprocess.CompletedProcess:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LD_"))} | {"HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    command = [*before, str(moved / "bin" / "python"), "-c", PROGRAM, str(moved)]
    return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)


def test_moved_it_trains_from_its_own_libraries(moved, tmp_path):
    done = run(moved, [], tmp_path)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_moved_and_read_only_it_trains_too(moved, tmp_path):
    before = read_only(moved)
    if before is None:
        pytest.skip("this machine lets nobody mount a folder read-only (unshare)")
    done = run(moved, before, tmp_path)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
