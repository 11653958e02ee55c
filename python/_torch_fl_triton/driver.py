"""Triton wants a driver with each compiler: this one is never active, since kernels are launched by the target's."""

from typing import Any

from triton.backends import driver as base


def _never(*unused: Any) -> Any:
    raise NotImplementedError("kernels are launched by the driver of the platform's target")


Driver = type(
    "Driver",
    (base.DriverBase,),
    dict.fromkeys(base.DriverBase.__abstractmethods__, _never) | {"is_active": classmethod(lambda cls: False)},
)
