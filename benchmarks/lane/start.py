"""A fresh process: seconds and memory of the imports, and seconds to the first tensor on a device; printed as JSON."""

import json
import os
import sys
import time


def resident() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def main(device: str) -> None:
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    import torch

    found = {}
    if device == "flagos":
        before, began = resident(), time.perf_counter()
        import torch_fl  # noqa: F401 - it is the import that is measured

        found["import torch_fl beyond torch, s"] = time.perf_counter() - began
        found["import torch_fl beyond torch, MiB"] = resident() - before
    began = time.perf_counter()
    torch.ones(1, device=device).cpu()
    found["first tensor, s"] = time.perf_counter() - began
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
