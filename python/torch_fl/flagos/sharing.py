"""Tensors in other processes: what PyTorch's multiprocessing is told when it meets a device tensor."""

from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing.reductions import reduce_storage


def _reduce_storage(storage: torch.UntypedStorage) -> tuple[Any, ...]:
    if storage.device.type == "flagos":
        raise RuntimeError(
            f"a tensor on {storage.device} cannot be passed to another process, because processes do not share device "
            f"memory; send tensor.cpu() and move it to the device in the process that receives it"
        )
    return reduce_storage(storage)


def register() -> None:
    """Let queues, pipes and spawned processes refuse device tensors with a remedy; others pass as before.

    ``ForkingPickler`` is where multiprocessing keeps one function for each type,
    and PyTorch's own for storages would speak of a file descriptor.
    """
    ForkingPickler.register(torch.UntypedStorage, _reduce_storage)
