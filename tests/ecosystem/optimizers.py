"""Every optimizer of torch.optim, and a small problem for them."""

import inspect

import torch
from torch import nn

OPTIONS = {"SGD": {"momentum": 0.9, "nesterov": True}, "RMSprop": {"momentum": 0.5, "centered": True}}
NAMES = sorted(
    name
    for name, kind in vars(torch.optim).items()
    if inspect.isclass(kind) and issubclass(kind, torch.optim.Optimizer) and kind is not torch.optim.Optimizer
)
EAGER = [name for name in NAMES if name not in ("LBFGS", "SparseAdam")]
IMPLEMENTATIONS = {"plain": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}


def accepts(name, implementation):
    return set(IMPLEMENTATIONS[implementation]) <= inspect.signature(vars(torch.optim)[name]).parameters.keys()


def make(name, model, how="only", **options):
    options = {"lr": 0.01, **OPTIONS.get(name, {}), **IMPLEMENTATIONS.get(how, {}), **options}
    parameters = [p for p in model.parameters() if p.dim() == 2] if name == "Muon" else list(model.parameters())
    return vars(torch.optim)[name](parameters, **options)


def steps(model, optimizer, inputs, targets, count=4):
    device = next(model.parameters()).device
    inputs, targets = inputs.to(device), targets.to(device)

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        return loss

    for _ in range(count):
        optimizer.step(closure)


def regression():
    """A model and a batch, on the CPU."""
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)), torch.randn(16, 6), torch.randn(16, 3)
