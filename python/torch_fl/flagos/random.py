"""Random numbers: one generator a device, whose state is 16 bytes (seed and offset, little-endian int64 each).

The generators live on the host: seeding them uses no device, so a seed set
before the first tensor counts, and a process that only seeds may still fork.
"""

from collections.abc import Iterable, Sequence
from typing import overload

import torch

from torch_fl import _C
from torch_fl.flagos._utils import DeviceLike, existing_index


class _DefaultGenerators(Sequence[torch.Generator]):
    """The default generators in device order, like a tuple; they are made when asked for."""

    def __len__(self) -> int:
        return _C.device_count()

    @overload
    def __getitem__(self, index: int) -> torch.Generator: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[torch.Generator, ...]: ...

    def __getitem__(self, index: int | slice) -> torch.Generator | tuple[torch.Generator, ...]:
        chosen = range(len(self))[index]  # negative indices, slices and IndexError are those of a range
        return tuple(map(_C.default_generator, chosen)) if isinstance(chosen, range) else _C.default_generator(chosen)

    def __repr__(self) -> str:
        return repr(tuple(self))


default_generators: Sequence[torch.Generator] = _DefaultGenerators()


def _current_generator() -> torch.Generator | None:
    # Before the first use of the device the current one is 0; asking the core would initialise it.
    if not _C.device_count():
        return None
    return _C.default_generator(_C.current_device() if _C.is_initialized() else 0)


def manual_seed(seed: int) -> None:
    """Seed the current device's generator; without a device nothing happens."""
    if generator := _current_generator():
        generator.manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all devices alike."""
    for generator in default_generators:
        generator.manual_seed(int(seed))


def seed() -> None:
    """Seed the current device's generator with a number from the operating system."""
    if generator := _current_generator():
        generator.seed()


def seed_all() -> None:
    """Seed the generators of all devices with one number from the operating system."""
    if default_generators:
        manual_seed_all(default_generators[0].seed())


def initial_seed() -> int:
    """Seed of the current device's generator.

    Raises:
        RuntimeError: there is no device.
    """
    return _C.default_generator(existing_index(None)).initial_seed()


def get_rng_state(device: DeviceLike = "flagos") -> torch.Tensor:
    """State of a device's generator: a CPU tensor of 16 bytes."""
    return _C.default_generator(existing_index(device)).get_state()


def set_rng_state(new_state: torch.Tensor, device: DeviceLike = "flagos") -> None:
    """Give a device's generator a state that :func:`get_rng_state` returned.

    Raises:
        RuntimeError: `new_state` is not 16 bytes of uint8 on the CPU.
    """
    _C.default_generator(existing_index(device)).set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    """States of all devices' generators, in device order."""
    return [generator.get_state() for generator in default_generators]


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Give the generators of all devices the states that :func:`get_rng_state_all` returned."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
