"""Random programs, run on the CPU and on the device side by side; everything is compared after every step.

For hours of it: ``python -m torch_fl_tests.fuzz_programs --seconds 3600``. A program that differs is made shorter and
printed as JSON, ready to be kept in ``corpus/``.
"""

import argparse
import json
import random
import sys
import time
import warnings

import torch

from .fuzz_operators import BINARY, UNARY

DEVICE = "flagos"
LARGEST = 2048  # elements of a value
KEPT = 6  # values at hand; the oldest makes room
# Steps that are the device's own: the CPU's side does nothing.
MOVES = ("stream", "through the cpu", "through pinned memory", "through the other device")
STEPS = (*UNARY, *BINARY, *MOVES)


class Different(AssertionError):
    """The device did not do what the CPU did."""


def starting_values(seed, grad=False):
    """Three small CPU tensors, multiples of one quarter."""
    pick = torch.Generator().manual_seed(seed)

    def numbers(*shape):
        return torch.randint(-12, 13, shape, generator=pick)

    if grad:
        return [(numbers(*shape) / 4).double().requires_grad_() for shape in ((3, 4), (4,), (2, 3, 4))]
    other = (numbers(4), numbers(3, 1).int(), numbers(3, 4) > 0, torch.complex(numbers(3, 4) / 4.0, numbers(3, 4) / 4.0))
    return [numbers(3, 4) / 4, other[seed % len(other)], (numbers(2, 3, 4) / 4).double()]


def _attempt(step):
    """A result, or what was raised."""
    try:
        return step(), None
    except Exception as error:  # noqa: BLE001 - compared by the caller
        return None, error


def describe(x):
    return tuple(x.shape), x.stride(), x.storage_offset(), x.dtype, x.requires_grad, x.is_conj(), x.is_neg()


class Machine:
    """Values in pairs: CPU, device."""

    def __init__(self, seed, grad=False):
        self.streams = [torch.flagos.default_stream(0), torch.flagos.Stream(0), torch.flagos.Stream(0)]
        self.current = self.streams[0]
        self.pairs, self.leaves = [], []
        for x in starting_values(seed, grad):
            self.pairs.append((x, x.detach().to(DEVICE).requires_grad_(grad)))
        self.leaves = list(self.pairs)
        self.ran = set()

    def move(self, name, x, p):
        if name == "stream":
            following = self.streams[p % len(self.streams)]
            following.wait_stream(self.current)
            self.current = following
            torch.flagos.set_stream(following)
            return x
        if name == "through the cpu":
            return x.cpu().to(DEVICE)
        if name == "through pinned memory":
            return x.cpu().pin_memory().to(DEVICE, non_blocking=True)
        there = x.to(f"{DEVICE}:{torch.flagos.device_count() - 1}", non_blocking=bool(p % 2), copy=True)
        return there.to(f"{DEVICE}:0")

    def step(self, name, i, j, p, q):
        x, y = self.pairs[i % len(self.pairs)], self.pairs[j % len(self.pairs)]
        if name in MOVES:
            if name != "stream" and (x[0].is_conj() or x[0].requires_grad):
                return
            cpu, wanted_error = (x[0] if name == "stream" else x[0].clone()), None
            device, error = _attempt(lambda: self.move(name, x[1], p))
            if name == "stream":
                self.ran.add(name)
                return
            cpu = cpu.contiguous() if device is not None and device.is_contiguous() else cpu
        else:
            operands = (x,) if name in UNARY else (x, y)
            operator = (UNARY if name in UNARY else BINARY)[name]
            cpu, wanted_error = _attempt(lambda: operator(*(pair[0] for pair in operands), p, q))
            device, error = _attempt(lambda: operator(*(pair[1] for pair in operands), p, q))
        if wanted_error is not None:
            late = error is None  # on a side stream a kernel's own complaint comes with the next synchronisation
            if late:
                _, error = _attempt(torch.flagos.synchronize)
            kept = isinstance(error, RuntimeError) and str(wanted_error).splitlines()[0] in str(error)
            if type(error) is not type(wanted_error) and not (late and kept):
                raise Different(f"{name}: the CPU raised {wanted_error!r}, the device {error!r}")
        elif error is not None:
            raise Different(f"{name}: the device raised {error!r}")
        else:
            self.ran.add(name)
            self.take(name, x, cpu, device)
        for number, (one, other) in enumerate(self.pairs):
            self.compare(f"value {number} after {name}", one, other)

    def take(self, name, x, cpu, device):
        if (cpu is x[0]) != (device is x[1]):
            raise Different(f"{name}: only one of the results is the operand itself")
        if cpu is x[0] or cpu.numel() > LARGEST:
            self.compare(name, cpu, device)
            return
        if name not in MOVES:
            for number, (one, other) in enumerate(self.pairs):
                if cpu.untyped_storage().nbytes() and _shares(cpu, one) != _shares(device, other):
                    raise Different(f"{name}: only one of the results shares memory with value {number}")
        self.pairs = [*self.pairs, (cpu, device)][-KEPT:]

    def compare(self, what, cpu, device):
        if describe(cpu) != describe(device):
            raise Different(f"{what}: {describe(cpu)} on the CPU, {describe(device)} on the device")
        found, wanted = device.detach().cpu().resolve_conj(), cpu.detach().resolve_conj()
        if torch.equal(found, wanted):
            return
        try:  # NaN is equal to NaN, and a sum may be added up in another order where memory is aligned otherwise
            torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-6, equal_nan=True)
        except AssertionError as error:
            raise Different(f"{what}: {error}") from None

    def backward(self):
        outputs = [pair for pair in self.pairs if pair[0].requires_grad and pair[0].is_floating_point()]
        if not outputs:
            return
        wanted_error = _attempt(lambda: sum(pair[0].sum() for pair in outputs).backward())[1]
        error = _attempt(lambda: sum(pair[1].sum() for pair in outputs).backward())[1]
        if type(error) is not type(wanted_error):
            raise Different(f"backward: the CPU raised {wanted_error!r}, the device {error!r}")
        for number, (one, other) in enumerate(self.leaves):
            if (one.grad is None) != (other.grad is None):
                raise Different(f"backward: only one gradient of leaf {number}")
            if one.grad is not None:
                self.compare(f"gradient of leaf {number}", one.grad, other.grad)


def _shares(one, other):
    return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


def run(program):
    """Run ``{"seed": int, "grad": bool, "steps": [[name, i, j, p, q], ...]}``.

    Returns:
        names of the steps that ran on both sides.

    Raises:
        Different: at the first step where the device is not the CPU's equal.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of casts from complex to real and the like, on both sides
        machine = Machine(program["seed"], program.get("grad", False))
        try:
            for step in program["steps"]:
                machine.step(*step)
            machine.backward()
        finally:
            torch.flagos.synchronize()
            torch.flagos.set_stream(machine.streams[0])
    return machine.ran


def random_program(seed):
    pick = random.Random(seed)
    steps = [
        [pick.choice(STEPS), pick.randrange(KEPT), pick.randrange(KEPT), pick.randrange(-8, 9), pick.randrange(-8, 9)]
        for _ in range(pick.randrange(4, 24))
    ]
    return {"seed": seed % 1000, "grad": seed % 4 == 0, "steps": steps}


def shorten(program):
    """A program that still differs, with no step that could be left out."""
    steps = program["steps"]
    for number in reversed(range(len(steps))):
        fewer = program | {"steps": steps[:number] + steps[number + 1 :]}
        try:
            run(fewer)
        except Different:
            program, steps = fewer, fewer["steps"]
    return program


def main():
    parser = argparse.ArgumentParser(prog="python -m torch_fl_tests.fuzz_programs", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600, help="how long (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="number of the first program (default: %(default)s)")
    arguments = parser.parse_args()
    seed, end, different = arguments.seed, time.monotonic() + arguments.seconds, 0
    while time.monotonic() < end:
        program = random_program(seed)
        try:
            run(program)
        except Different as error:
            different += 1
            print(f"program {seed}: {error}\n{json.dumps(shorten(program))}", flush=True)
        seed += 1
    print(f"{seed - arguments.seed} programs, {different} differ")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
