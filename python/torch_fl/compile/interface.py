"""What Dynamo and Inductor ask about a device, answered for flagos.

``torch.flagos`` answers where a device, stream or event is named, and otherwise the target, whose current device, streams
and memory are the same.
"""

from typing import Any

import torch


def of(target: type) -> type:
    """The device interface of flagos.

    Args:
        target: that of the device that flagos stands for.
    """

    class FlagosInterface(target):
        device = torch.flagos.device
        Event = torch.flagos.Event
        Stream = torch.flagos.Stream
        current_device = staticmethod(torch.flagos.current_device)
        current_stream = staticmethod(torch.flagos.current_stream)
        device_count = staticmethod(torch.flagos.device_count)
        exchange_device = staticmethod(torch.flagos._exchange_device)
        is_available = staticmethod(torch.flagos.is_available)
        maybe_exchange_device = staticmethod(torch.flagos._maybe_exchange_device)
        memory_allocated = staticmethod(torch.flagos.memory_allocated)
        set_device = staticmethod(torch.flagos.set_device)
        set_stream = staticmethod(torch.flagos.set_stream)
        stream = staticmethod(torch.flagos.stream)
        synchronize = staticmethod(torch.flagos.synchronize)

        class Worker(target.Worker):
            @staticmethod
            def get_device_properties(device: Any = None) -> Any:
                return target.Worker.get_device_properties(_index(device))

        # The target's properties: they have more than those of torch.flagos.
        @classmethod
        def get_device_properties(cls, device: Any = None) -> Any:
            return target.get_device_properties(_index(device))

        @staticmethod
        def get_compute_capability(device: Any = None) -> Any:
            return target.get_compute_capability(_index(device))

        @staticmethod
        def is_triton_capable(device: Any = None) -> bool:
            return target.is_triton_capable(_index(device))

        @staticmethod
        def raise_if_triton_unavailable(device: Any = None) -> None:
            target.raise_if_triton_unavailable(_index(device))

    return FlagosInterface


def _index(device: Any) -> int | None:
    return torch.device(device).index if isinstance(device, (str, torch.device)) else device
