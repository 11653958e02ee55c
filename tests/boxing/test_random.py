"""Draws are the target's own: the same seed gives the same bits as on the target, through any generator."""

import pytest
import torch

from .conftest import DEVICE, same

DRAWS = {
    "normal_": ("normal_", lambda t, g: t.normal_(generator=g)),
    "uniform_": ("uniform_", lambda t, g: t.uniform_(-1, 2, generator=g)),
    "bernoulli": ("bernoulli", lambda t, g: torch.bernoulli(t.fill_(0.5), generator=g)),
    "multinomial": ("multinomial", lambda t, g: torch.multinomial(t.fill_(1.0), 3, generator=g)),
    "exponential_": ("exponential_", lambda t, g: t.exponential_(generator=g)),
}


@pytest.mark.parametrize("draw", DRAWS)
def test_an_own_generator_gives_the_targets_bits(draw, boxed, native):
    operator, function = DRAWS[draw]
    found = [function(torch.empty(100, device=DEVICE), torch.Generator(DEVICE).manual_seed(7)) for _ in range(2)]
    boxed(operator)
    wanted = function(torch.empty(100, device=native), torch.Generator(native).manual_seed(7)).cpu()
    assert torch.equal(found[0], found[1])
    same(found[0], wanted, rtol=0, atol=0)


def test_the_global_seed_gives_the_targets_bits(native):
    torch.manual_seed(3)
    wanted = [torch.randn(10, device=native), torch.rand(10, device=native), torch.randperm(10, device=native)]
    torch.manual_seed(3)
    found = [torch.randn(10, device=DEVICE), torch.rand(10, device=DEVICE), torch.randperm(10, device=DEVICE)]
    same(found, [t.cpu() for t in wanted], rtol=0, atol=0)


def test_a_generators_state_can_be_taken_back():
    generator = torch.Generator(DEVICE).manual_seed(1)
    assert generator.device.type == DEVICE
    state = generator.get_state()
    first = torch.rand(5, device=DEVICE, generator=generator)
    generator.set_state(state)
    assert torch.equal(first, torch.rand(5, device=DEVICE, generator=generator))


def test_a_generator_of_another_device_is_refused():
    with pytest.raises(RuntimeError, match="Expected a 'flagos' device type for generator but found 'cpu'"):
        torch.empty(3, device=DEVICE).normal_(generator=torch.Generator("cpu"))


def test_dropout_has_the_targets_bits(native, boxed):
    x = torch.ones(64)
    torch.manual_seed(5)
    wanted = torch.nn.functional.dropout(x.to(native), 0.5) if native != "cpu" else torch.native_dropout(x, 0.5, True)[0]
    torch.manual_seed(5)
    found = torch.nn.functional.dropout(x.to(DEVICE), 0.5)
    boxed("native_dropout")
    same(found, wanted.cpu(), rtol=0, atol=0)
