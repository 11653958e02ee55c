"""PyTorch's samples on the device: of each entry of its databases one dtype, and a few samples for each check."""

import os
import subprocess
import sys


def test_every_operator_module_and_optimizer_behaves_as_on_the_cpu(tmp_path):
    jobs = str(min(4, os.cpu_count() or 1))
    command = [sys.executable, "-m", __package__, "--sample", "0.001", "--depth", "2", "--jobs", jobs, "--limit", "120"]
    done = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
