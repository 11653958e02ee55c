"""The package's own test: in a fresh environment the device is found by `import torch` alone, and computes."""

import sys
from pathlib import Path

import torch

ones = torch.ones(2, 3, device="flagos", requires_grad=True)
assert ones.device == torch.device("flagos", 0), ones.device
(ones * 3).sum().backward()
assert ones.grad.cpu().tolist() == [[3.0] * 3] * 2, ones.grad
last = torch.flagos.device_count() - 1
assert torch.arange(4, device=f"flagos:{last}").cpu().tolist() == [0, 1, 2, 3]

# Everything that was loaded for it lies in this environment, and not where it was built.
loaded = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "torch" in line.split()[-1]}
outside = [
    path for path in loaded if path.endswith(".so") and not Path(path).is_relative_to(Path(sys.prefix).resolve())
]
assert not outside, outside
