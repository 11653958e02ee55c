"""Optimizers: every one of PyTorch's, in every mode it has, trains as on the CPU and keeps its state across devices."""

import copy
import inspect
import io

import pytest
import torch
from torch import nn

DEVICE = "flagos"

CLASSES = {
    name: cls
    for name, cls in vars(torch.optim).items()
    if isinstance(cls, type) and issubclass(cls, torch.optim.Optimizer) and cls is not torch.optim.Optimizer
}
OPTIONS = {"SGD": {"momentum": 0.9}, "RMSprop": {"momentum": 0.5, "centered": True}, "Adam": {"amsgrad": True},
           "LBFGS": {"max_iter": 3}}  # fmt: skip
MODES = [{}, {"foreach": False}, {"foreach": True}, {"fused": True}, {"maximize": True}, {"capturable": True}]
LR = 0.01


def accepted(cls, mode):
    return all(key in inspect.signature(cls).parameters for key in mode)


CASES = [(name, mode) for name, cls in CLASSES.items() for mode in MODES if accepted(cls, mode)]


def model(name):
    torch.manual_seed(2)
    if name == "SparseAdam":
        return nn.Embedding(6, 3, sparse=True)
    return nn.Sequential(nn.Linear(4, 5, bias=name != "Muon"), nn.Tanh(), nn.Linear(5, 3, bias=name != "Muon"))


def inputs(net, device):
    if isinstance(net, nn.Embedding):
        return torch.tensor([0, 2, 2, 5], device=device)
    return torch.linspace(-1, 1, 24, device=device).view(6, 4)


def train(net, optimizer, device, steps=3):
    for _ in range(steps):

        def closure():
            optimizer.zero_grad()
            loss = net(inputs(net, device)).square().mean()
            loss.backward()
            return loss

        optimizer.step(closure)


def state(optimizer):
    return {(i, k): v for i, s in optimizer.state_dict()["state"].items() for k, v in s.items()}


@pytest.mark.parametrize(("name", "mode"), CASES, ids=lambda v: v if isinstance(v, str) else "+".join(v) or "default")
def test_same_as_on_the_cpu(name, mode):
    """F13: default, single-tensor, foreach and fused mode of every optimizer: right results, state on the device."""
    results = []
    for device in ("cpu", DEVICE):
        net = model(name).to(device)
        keywords = {**OPTIONS.get(name, {}), **mode}
        if device == "cpu" and keywords.pop("capturable", None):
            keywords["capturable"] = False  # for accelerators only; it changes where the step counter lies, not values
        optimizer = CLASSES[name](net.parameters(), lr=LR, **keywords)
        train(net, optimizer, device)
        results.append((net, optimizer))
    (reference, wanted), (net, found) = results
    for p, q in zip(reference.parameters(), net.parameters(), strict=True):
        assert q.device.type == DEVICE
        torch.testing.assert_close(q.detach().cpu(), p.detach(), rtol=1e-5, atol=1e-6)
    assert state(found).keys() == state(wanted).keys()
    for key, value in state(found).items():
        if isinstance(value, torch.Tensor) and key[1] not in ("step", "mu_product"):  # counters stay on the CPU
            assert value.device.type == DEVICE, key
            torch.testing.assert_close(value.cpu(), state(wanted)[key], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", CLASSES)
def test_state_travels(name):
    """Saved on the device, loaded on the CPU and back: training goes on as if nothing had happened."""
    keywords = OPTIONS.get(name, {})
    net = model(name).to(DEVICE)
    optimizer = CLASSES[name](net.parameters(), lr=LR, **keywords)
    train(net, optimizer, DEVICE)
    buffer = io.BytesIO()
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, buffer)
    results = []
    for device, location in (("cpu", "cpu"), (DEVICE, "cpu"), ("cpu", None), (DEVICE, DEVICE)):
        saved = torch.load(io.BytesIO(buffer.getvalue()), map_location=location, weights_only=True)
        other = model(name).to(device)
        other.load_state_dict(saved["net"])
        fresh = CLASSES[name](other.parameters(), lr=LR, **keywords)
        fresh.load_state_dict(saved["optimizer"])
        for key, value in state(fresh).items():
            if isinstance(value, torch.Tensor) and value.dim() > 0 and name != "LBFGS":
                assert value.device.type == device, key
        train(other, fresh, device, steps=2)
        results.append([p.detach().cpu() for p in other.parameters()])
    train(net, optimizer, DEVICE, steps=2)
    for result in results:
        for p, q in zip(net.parameters(), result, strict=True):
            torch.testing.assert_close(q, p.detach().cpu(), rtol=1e-5, atol=1e-6)


@pytest.mark.capability("cpu_kernels_in_place")  # the CPU's foreach kernels serve; others may have one kernel a tensor
def test_one_call_for_all_tensors(served):
    """F13: foreach and fused are one operator a step, not one a tensor, and the count of calls shows it."""
    net = nn.Sequential(*[nn.Linear(3, 3) for _ in range(10)]).to(DEVICE)
    net(torch.ones(1, 3, device=DEVICE)).sum().backward()
    calls = {}
    for label, mode in {"single": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}.items():
        optimizer = torch.optim.AdamW(net.parameters(), lr=LR, **mode)
        optimizer.step()
        served.clear()
        optimizer.step()
        counts = torch.flagos.dispatch_counts()
        calls[label] = sum(counts.values())
        if label == "fused":
            assert served.calls("_fused_adamw_") == 1
        if label == "foreach":
            assert served.calls("_foreach_addcdiv_.ScalarList") == 1
    assert calls["fused"] < calls["foreach"] < calls["single"] / 5


@pytest.mark.capability("cpu_kernels_in_place")  # the CPU's foreach kernels serve; others may have one kernel a tensor
def test_which_mode_is_the_default(served):
    """F13: the device is on PyTorch's list of those with foreach kernels, and it has them."""
    net = nn.Linear(3, 3).to(DEVICE)
    net(torch.ones(1, 3, device=DEVICE)).sum().backward()
    optimizer = torch.optim.SGD(net.parameters(), lr=LR)
    served.clear()
    optimizer.step()
    assert served.calls("_foreach_add_.List") == 1 and served.calls("add_.Tensor") == 0


def test_clipping_and_schedules():
    """F13: clip_grad_norm_ with and without foreach, clip_grad_value_, a scheduler and averaged weights."""
    results = []
    for device in ("cpu", DEVICE):
        net = model("SGD").to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.5, total_steps=6)
        average = torch.optim.swa_utils.AveragedModel(net, use_buffers=True)
        norms = []
        for foreach in (None, True, False):
            optimizer.zero_grad()
            net(inputs(net, device) * 10).square().sum().backward()
            norms.append(
                nn.utils.clip_grad_norm_(net.parameters(), 0.5, foreach=foreach, error_if_nonfinite=True).item()
            )
            nn.utils.clip_grad_value_(net.parameters(), 0.2)
            optimizer.step()
            schedule.step()
            average.update_parameters(net)
        results.append((norms, [p.detach().cpu() for p in average.parameters()]))
    assert results[1][0] == pytest.approx(results[0][0], rel=1e-5)
    for p, q in zip(results[0][1], results[1][1], strict=True):
        torch.testing.assert_close(q, p, rtol=1e-5, atol=1e-6)


@pytest.mark.devices(2)
@pytest.mark.parametrize("mode", [{}, {"foreach": False}, {"fused": True}])
def test_parameters_on_two_devices_and_the_cpu(mode):
    """F13: lists are grouped by device."""
    reference, here = nn.ModuleList(nn.Linear(2, 2) for _ in range(3)), None
    here = copy.deepcopy(reference)
    for layer, device in zip(here, ("flagos:0", "flagos:1", "cpu"), strict=True):
        layer.to(device)
    for net in (reference, here):
        optimizer = torch.optim.Adam(net.parameters(), lr=LR, **mode)
        for layer in net:
            layer(torch.ones(1, 2, device=layer.weight.device)).sum().backward()
        optimizer.step()
    for p, q in zip(reference.parameters(), here.parameters(), strict=True):
        torch.testing.assert_close(q.detach().cpu(), p.detach())
