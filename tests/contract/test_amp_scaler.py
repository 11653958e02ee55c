"""``torch.amp.GradScaler("flagos")``: scaling, skipped steps, growth and back-off, on one device and on two."""

import pytest
import torch
from torch import nn
from torch_fl.evidence import capabilities

from .conftest import needing

DEVICE = "flagos"


def _scaler(**options):
    return torch.amp.GradScaler(DEVICE, **({"init_scale": 4.0, "growth_interval": 2} | options))


def _parameter(value=1.0, device=DEVICE):
    return nn.Parameter(torch.full((3,), value, device=device))


def _step(scaler, optimizer, loss):
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def test_a_loss_is_scaled_on_its_device():
    scaler = _scaler()
    loss = torch.tensor(3.0, device=DEVICE)
    scaled = scaler.scale(loss)
    assert scaled.device.type == DEVICE and scaled.item() == 12.0
    assert scaler.get_scale() == 4.0 and scaler._scale.device.type == DEVICE
    nested = scaler.scale([loss, (loss, loss)])
    assert isinstance(nested, list) and isinstance(nested[1], tuple) and nested[1][1].item() == 12.0


def test_a_step_uses_the_unscaled_gradient():
    p = _parameter()
    optimizer, scaler = torch.optim.SGD([p], lr=0.5), _scaler()
    _step(scaler, optimizer, (p * 2).sum())
    assert p.tolist() == [0.0] * 3 and p.grad.tolist() == [2.0] * 3


@pytest.mark.parametrize("bad", [float("inf"), float("-inf"), float("nan")])
def test_a_step_with_a_bad_gradient_is_skipped_and_the_scale_backs_off(bad):
    p, other = _parameter(), _parameter()
    optimizer, scaler = torch.optim.SGD([p, other], lr=0.5, momentum=0.9), _scaler()
    scaler.scale((p * 2 + other).sum()).backward()
    p.grad[1] = bad
    assert scaler.step(optimizer) is None
    scaler.update()
    assert p.tolist() == other.tolist() == [1.0] * 3 and scaler.get_scale() == 2.0
    _step(scaler, optimizer, (p * 2).sum())
    assert p.tolist() == [0.0] * 3


def test_the_scale_grows_after_good_steps_only():
    p = _parameter()
    optimizer, scaler = torch.optim.SGD([p], lr=0.0), _scaler(growth_interval=3, growth_factor=3.0, backoff_factor=0.25)
    scales = []
    for bad in (False, False, False, False, True, False, False, False):
        _step(scaler, optimizer, (p * (float("inf") if bad else 1.0)).sum())
        scales.append(scaler.get_scale())
    assert scales == [4.0, 4.0, 12.0, 12.0, 3.0, 3.0, 3.0, 9.0]


def test_the_scale_never_grows_to_infinity():
    p = _parameter()
    optimizer, scaler = torch.optim.SGD([p], lr=0.0), _scaler(init_scale=2.0**127, growth_interval=1)
    optimizer.zero_grad()
    scaler.scale(p.sum() * 0).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 2.0**127


def test_update_to_a_given_scale():
    scaler = _scaler()
    scaler.scale(torch.ones((), device=DEVICE))
    scaler.update(32.0)
    assert scaler.get_scale() == 32.0
    scaler.update(torch.tensor(8.0, device=DEVICE))
    assert scaler.get_scale() == 8.0


def test_the_state_survives_a_save():
    p = _parameter()
    optimizer, scaler = torch.optim.SGD([p], lr=0.0), _scaler(growth_interval=3)
    _step(scaler, optimizer, p.sum())
    state = scaler.state_dict()
    assert state == {
        "scale": 4.0,
        "growth_factor": 2.0,
        "backoff_factor": 0.5,
        "growth_interval": 3,
        "_growth_tracker": 1,
    }
    again = _scaler()
    again.load_state_dict(state)
    for _ in range(2):
        _step(again, optimizer, p.sum())
    assert again.get_scale() == 8.0
    with pytest.raises(RuntimeError, match="source state dict is empty"):
        again.load_state_dict({})


def test_misuse_gets_pytorchs_sentences():
    p = _parameter()
    optimizer, scaler = torch.optim.SGD([p], lr=0.5), _scaler()
    with pytest.raises(AssertionError, match="_scale is None"):
        scaler.update()
    scaler.scale(p.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="already been called since the last update"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_(optimizer)
    half = nn.Parameter(torch.ones(2, device=DEVICE, dtype=torch.float16))
    scaler.scale(half.sum()).backward()
    with pytest.raises(ValueError, match="unscale FP16 gradients"):
        scaler.unscale_(torch.optim.SGD([half], lr=1.0))


def test_a_disabled_scaler_does_nothing():
    p = _parameter()
    scaler = torch.amp.GradScaler(DEVICE, enabled=False)
    loss = p.sum()
    assert scaler.scale(loss) is loss and scaler.state_dict() == {} and scaler.get_scale() == 1.0
    _step(scaler, torch.optim.SGD([p], lr=1.0), p.sum())
    assert p.tolist() == [0.0] * 3


@pytest.mark.parametrize(
    "dtype", needing("cpu_rules", {torch.bfloat16}, [torch.float32, torch.float64, torch.bfloat16])
)
def test_the_operators_behind_it(dtype):
    """The foreach check treats every list like the CPU: values, flag, empty tensors, strides."""
    grads = [torch.full((3,), 8.0, dtype=dtype), torch.ones(2, 3, dtype=dtype).t(), torch.empty(0, dtype=dtype)]
    for bad in (None, float("nan")):
        if bad is not None:
            grads[1][2, 1] = bad
        on_device, flag, scale = [g.to(DEVICE) for g in grads], torch.zeros(1, device=DEVICE), torch.tensor([0.5])
        torch._amp_foreach_non_finite_check_and_unscale_(on_device, flag, scale.to(DEVICE))
        wanted, cpu_flag = [g.clone() for g in grads], torch.zeros(1)
        torch._amp_foreach_non_finite_check_and_unscale_(wanted, cpu_flag, scale)
        assert flag.item() == cpu_flag.item() == (bad is not None)
        torch.testing.assert_close([g.cpu() for g in on_device], wanted, equal_nan=True)


def test_clipping_between_unscale_and_step():
    p = _parameter()
    optimizer, scaler = torch.optim.SGD([p], lr=1.0), _scaler(init_scale=1024.0)
    scaler.scale((p * 10).sum()).backward()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_([p], 1.0)
    assert norm.item() == pytest.approx(10 * 3**0.5)
    scaler.step(optimizer)
    scaler.update()
    torch.testing.assert_close(p.detach().cpu(), torch.full((3,), 1 - 3**-0.5), rtol=1e-5, atol=1e-5)


def test_two_optimizers_are_judged_apart():
    good, bad = _parameter(), _parameter()
    first, second, scaler = torch.optim.SGD([good], lr=1.0), torch.optim.SGD([bad], lr=1.0), _scaler()
    scaler.scale(good.sum()).backward()
    scaler.scale(bad.sum() * float("inf")).backward()
    scaler.step(first)
    scaler.step(second)
    scaler.update()
    assert good.tolist() == [0.0] * 3 and bad.tolist() == [1.0] * 3 and scaler.get_scale() == 2.0


@pytest.mark.devices(2)
@pytest.mark.parametrize("bad_on", [None, 0, 1])
def test_parameters_on_two_devices(bad_on):
    parameters = [_parameter(device=f"{DEVICE}:{index}") for index in range(2)]
    optimizer, scaler = torch.optim.SGD(parameters, lr=0.5), _scaler(growth_interval=1)
    losses = scaler.scale([(p * 2).sum() for p in parameters])
    assert [loss.device.index for loss in losses] == [0, 1]
    for loss in losses:
        loss.backward()
    if bad_on is not None:
        parameters[bad_on].grad[0] = float("inf")
    scaler.step(optimizer)
    scaler.update()
    assert [p.tolist() for p in parameters] == [[0.0 if bad_on is None else 1.0] * 3] * 2
    assert scaler.get_scale() == (8.0 if bad_on is None else 2.0)
    assert torch.flagos.current_device() == 0


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.Adagrad])
@pytest.mark.parametrize("mode", ["plain", "foreach", "fused"])
def test_every_implementation_of_an_optimizer_skips_bad_steps(kind, mode):
    p = _parameter()
    how = {"lr": 0.5, "foreach": mode == "foreach", "fused": mode == "fused"}
    optimizer, on_cpu = kind([p], **how), kind([nn.Parameter(torch.ones(3))], **how)
    scales = [getattr(o, "_step_supports_amp_scaling", False) for o in (optimizer, on_cpu)]
    assert scales[0] == scales[1] and (kind is torch.optim.Adagrad or scales[0] == (mode == "fused"))
    scaler = _scaler()
    _step(scaler, optimizer, (p * 2).sum())
    after_one = p.detach().cpu()
    q = nn.Parameter(torch.ones(3))
    twin = kind([q], lr=0.5)
    (q * 2).sum().backward()
    twin.step()
    torch.testing.assert_close(after_one, q.detach())
    _step(scaler, optimizer, (p * float("inf")).sum())
    torch.testing.assert_close(p.detach().cpu(), after_one, rtol=0, atol=0)
    assert scaler.get_scale() == 2.0


@pytest.mark.parametrize("fast", [torch.float16, torch.bfloat16])
def test_training_equals_the_loop_by_hand_on_the_cpu(fast):
    torch.manual_seed(3)
    x, y = torch.randn(16, 6), torch.randn(16, 1)
    cpu = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1)).to(DEVICE)
    model.load_state_dict(cpu.state_dict())
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), _scaler(init_scale=2.0**10, growth_interval=4)
    for _ in range(10):
        optimizer.zero_grad()
        with torch.autocast(DEVICE, dtype=fast):
            loss = nn.functional.mse_loss(model(x.to(DEVICE)), y.to(DEVICE))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    scale, good = 2.0**10, 0
    for _ in range(10):
        cpu.zero_grad()
        weights = [p.to(fast) for p in cpu.parameters()]
        hidden = nn.functional.linear(x.to(fast), weights[0], weights[1]).tanh()
        out = nn.functional.linear(hidden, weights[2], weights[3])
        (nn.functional.mse_loss(out.float(), y) * scale).backward()
        with torch.no_grad():
            for p in cpu.parameters():
                p -= 0.1 * (p.grad / scale)
        good += 1
        scale, good = (scale * 2, 0) if good == 4 else (scale, good)
    assert scaler.get_scale() == scale
    # Ten steps of 0.1 along gradients that a card's own kernels round otherwise.
    error = torch.finfo(fast).eps if capabilities.missing("cpu_rules") else 1e-5
    for found, wanted in zip(model.parameters(), cpu.parameters(), strict=True):
        torch.testing.assert_close(found.detach().cpu(), wanted.detach(), rtol=10 * error, atol=error)
