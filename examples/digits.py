"""Train a small convolutional network on handwritten digits, on a flagos device and on the CPU, and compare.

The data are scikit-learn's bundled 8x8 digits (1797 real scans), so nothing is downloaded.

    python examples/digits.py                      # flagos:0
    python examples/digits.py --device flagos:1 --epochs 12
    python examples/digits.py --backend flaggems   # FlagGems' kernels; needs torch-fl-flaggems
    python examples/digits.py --backend cpu        # the CPU's kernels on the device's memory

With the CPU's kernels every bit equals the CPU's. FlagGems and a card add in another order, and training magnifies such differences: the
CPU's own losses can move by tens of per cent in eight epochs when the first weights move by 1e-7. So there it is steps that are compared:
in each epoch one is taken on the CPU as well, from the device's weights.
"""

import argparse
import copy
import statistics
import tempfile
import time
from pathlib import Path

import torch
from shared import kernels
from sklearn.datasets import load_digits
from torch import nn

SEED = 20
BATCH = 64
HELD_OUT = 360  # digits that training never sees
TOLERANCE = 1e-4  # of a step's loss and gradients, relative to the largest, where sums are added in another order


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    """Images as float32 [1797, 1, 8, 8] in 0..1 and labels as int64 [1797], on the CPU."""
    data = load_digits()
    images = torch.from_numpy(data.images).float().div_(16).unsqueeze_(1)
    return images, torch.from_numpy(data.target).long()


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * 4 * 4, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


class Run:
    """One training run on one device; the same seed gives the same batches and first weights everywhere."""

    def __init__(self, device: str):
        torch.manual_seed(SEED)
        self.device = torch.device(device)
        self.model = network().to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)
        self.shuffle = torch.Generator().manual_seed(SEED)
        images, labels = digits()
        self.train = images[HELD_OUT:], labels[HELD_OUT:]
        self.test = images[:HELD_OUT], labels[:HELD_OUT]
        self.losses: list[float] = []
        self.seconds: list[float] = []

    def epoch(self) -> float:
        """Train on all digits once; returns the mean loss."""
        began = time.perf_counter()
        images, labels = self.train
        self.model.train()
        losses = []
        for chosen in torch.randperm(len(images), generator=self.shuffle).split(BATCH):
            loss = nn.functional.cross_entropy(
                self.model(images[chosen].to(self.device)), labels[chosen].to(self.device)
            )
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.detach())
        self.losses.append(torch.stack(losses).mean().item())
        self.seconds.append(time.perf_counter() - began)
        return self.losses[-1]

    def step_difference(self) -> float:
        """How far loss and gradients of one step are from the CPU's from the same weights, relative to the largest of each."""
        images, labels = (part[:BATCH] for part in self.train)
        found = []
        for device in (self.device, torch.device("cpu")):
            model = copy.deepcopy(self.model).to(device).train()
            model.zero_grad()
            loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
            loss.backward()
            # A bias before normalisation has no effect: its gradient is what rounding leaves of zero.
            found.append([loss.detach().cpu(), *(p.grad.cpu() for name, p in model.named_parameters() if name != "0.bias")])
        return max(((a - b).abs().max() / b.abs().max()).item() for a, b in zip(*found))

    @torch.no_grad()
    def accuracy(self) -> float:
        images, labels = self.test
        self.model.eval()
        return (self.model(images.to(self.device)).argmax(1).cpu() == labels).float().mean().item()

    def weights(self) -> list[torch.Tensor]:
        return [value.cpu() for value in self.model.state_dict().values()]


def check_saving(run: Run, exact: bool) -> None:
    """The trained model survives save and load, to the CPU and back to the device; `exact`: with the same bits."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.pt"
        torch.save(run.model.state_dict(), path)
        for place in ("cpu", str(run.device)):
            copy = network().to(place)
            copy.load_state_dict(torch.load(path, map_location=place, weights_only=True))
            images = run.test[0]
            run.model.eval(), copy.eval()
            with torch.no_grad():
                outputs = copy(images.to(place)).cpu(), run.model(images.to(run.device)).cpu()
            same = torch.equal(*outputs) if exact else torch.allclose(*outputs, rtol=1e-3, atol=1e-3)
            print(f"saved on {run.device}, loaded on {place}: outputs {'equal' if same else 'DIFFER'}")
            if not same:
                raise SystemExit("the reloaded model computes something else")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="flagos:0", help="where to train (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=8, help="passes over the digits (default: %(default)s)")
    parser.add_argument("--backend", choices=kernels.BACKENDS, help="whose kernels do the work (default: the routes in force)")
    arguments = parser.parse_args()
    if arguments.epochs < 2:
        parser.error("--epochs must be at least 2: the first epoch is a warm-up when timing")
    kernels.use_backend(arguments.backend)
    torch.backends.cudnn.allow_tf32 = False  # by default a card's convolutions may be TF32: too coarse beside the CPU's

    device, cpu, differences = Run(arguments.device), Run("cpu"), []
    print(f"training on {device.device} and on the CPU: {len(device.train[0])} digits, {HELD_OUT} held out")
    for epoch in range(1, arguments.epochs + 1):
        differences.append(device.step_difference())
        loss, reference = device.epoch(), cpu.epoch()
        print(f"epoch {epoch:2}: loss {loss:.6f}, {'bit-equal to the CPU' if loss == reference else f'CPU {reference:.6f}'}")

    accuracy = device.accuracy()
    equal = all(torch.equal(a, b) for a, b in zip(device.weights(), cpu.weights()))
    ratios = [a / b for a, b in zip(device.seconds[1:], cpu.seconds[1:])]
    print(f"accuracy on held-out digits: {accuracy:.4f}")
    if equal:
        print(f"weights after {arguments.epochs} epochs: bit-equal to the CPU")
    else:
        print(f"one step of each epoch, from the device's weights: within {max(differences):.1e} of the CPU's, relative")
    print(
        f"time of an epoch against the CPU's: median {statistics.median(ratios):.2f}x "
        f"({min(ratios):.2f} to {max(ratios):.2f}, first epoch left out)"
    )
    exact = device.device.type != "flagos" or not kernels.other_calls()
    check_saving(device, exact)
    if device.device.type == "flagos":
        kernels.show()
        kernels.check_flaggems(arguments.backend)
    # The CPU's own kernels give the CPU's bits; others do not add in the same order.
    same = equal and device.losses == cpu.losses if exact else max(differences) <= TOLERANCE
    if not same:
        raise SystemExit("the runs differ")
    if accuracy < 0.97:
        raise SystemExit("accuracy below 0.97")


if __name__ == "__main__":
    main()
