"""Draws by muRAND: ranges, seeds, distributions' first moments, dropout."""

import pytest
import torch

DEVICE = "flagos"
COUNT = 40_001  # odd: muRAND's normal numbers come in pairs


def same_twice(draw):
    torch.manual_seed(11)
    first = draw()
    torch.manual_seed(11)
    assert torch.equal(first, draw())
    assert not torch.equal(first, draw()), "the next draw goes on in the stream"
    return first.cpu()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_uniform_has_its_lower_end_and_not_its_upper_one(backends, dtype):
    x = same_twice(lambda: torch.rand(COUNT, device=DEVICE, dtype=dtype))
    assert backends("uniform_") == {"musa"}
    assert x.min() >= 0 and x.max() < 1
    assert abs(x.double().mean() - 0.5) < 0.01 and abs(x.double().var() - 1 / 12) < 0.005
    y = torch.empty(COUNT, device=DEVICE, dtype=dtype).uniform_(-3, 5).cpu()
    assert y.min() >= -3 and y.max() < 5 and abs(y.double().mean() - 1) < 0.1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("count", [COUNT, COUNT + 1])
def test_normal_takes_any_length(backends, dtype, count):
    x = same_twice(lambda: torch.empty(count, device=DEVICE, dtype=dtype).normal_(2, 3))
    assert backends("normal_") == {"musa"}
    assert x.numel() == count and abs(x.double().mean() - 2) < 0.1 and abs(x.double().std() - 3) < 0.1
    assert same_twice(lambda: torch.randn(1, device=DEVICE, dtype=dtype)).isfinite().all()


@pytest.mark.parametrize("low, high", [(0, 10), (-5, 6), (-(2**40), 2**40), (-(2**63), 2**63 - 1), (-(2**62), 2**62 + 5), (0, 2**32)])
def test_integers_of_any_range(backends, low, high):
    x = same_twice(lambda: torch.randint(low, high, (COUNT,), device=DEVICE))
    assert backends("random_.from") == {"musa"}
    assert int(x.min()) >= low and int(x.max()) < high
    middle, width = (low + high - 1) / 2, high - low
    assert abs(float(x.double().mean()) - middle) < 0.01 * width + 0.01
    assert float((x.double() < middle).double().mean()) == pytest.approx(0.5, abs=0.06)
    assert (x & 1).double().mean() == pytest.approx(0.5, abs=0.06)


def test_the_whole_of_int64_and_the_default_ranges():
    x = torch.empty(COUNT, dtype=torch.int64, device=DEVICE).random_(-(2**63), None).cpu()
    assert (x < 0).double().mean() == pytest.approx(0.5, abs=0.02) and x.abs().max() > 2**62
    assert torch.empty(COUNT, dtype=torch.int64, device=DEVICE).random_().min() >= 0
    for dtype, largest in ((torch.int8, 127), (torch.uint8, 255), (torch.bool, 1), (torch.float16, 2**11), (torch.float32, 2**24)):
        y = torch.empty(COUNT, dtype=dtype, device=DEVICE).random_().cpu().double()
        assert y.min() >= 0 and largest * 0.98 < y.max() <= largest


def test_a_range_that_the_type_lacks_is_refused_in_pytorchs_words():
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.empty(3, dtype=torch.int8, device=DEVICE).random_(0, 300)
    with pytest.raises(RuntimeError, match="std >= 0"):
        torch.empty(3, device=DEVICE).normal_(0, -1)


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_bernoulli(backends, p):
    x = torch.empty(COUNT, device=DEVICE).bernoulli_(p).cpu()
    assert backends("bernoulli_.float") == {"musa"}
    assert set(x.unique().tolist()) <= {0.0, 1.0} and x.mean() == pytest.approx(p, abs=0.02)


def test_strides_do_not_change_the_numbers():
    torch.manual_seed(4)
    dense = torch.empty(6, 8, device=DEVICE).normal_()
    torch.manual_seed(4)
    strided = torch.empty(8, 6, device=DEVICE).t().normal_()
    assert torch.equal(dense, strided)


def test_generators_are_their_own_streams():
    one, two = (torch.Generator(DEVICE).manual_seed(7) for _ in range(2))
    torch.manual_seed(0)
    first = torch.rand(9, device=DEVICE, generator=one)
    torch.rand(9, device=DEVICE)
    assert torch.equal(first, torch.rand(9, device=DEVICE, generator=two))
    state = one.get_state()
    again = torch.rand(9, device=DEVICE, generator=one)
    one.set_state(state)
    assert torch.equal(again, torch.rand(9, device=DEVICE, generator=one))


def test_devices_draw_apart():
    torch.manual_seed(5)
    a = torch.rand(9, device="flagos:0")
    torch.manual_seed(5)
    torch.rand(9, device="flagos:1")
    assert torch.equal(a, torch.rand(9, device="flagos:0"))


def test_dropout_and_its_gradient(backends):
    x = torch.ones(COUNT, device=DEVICE, requires_grad=True)
    y = torch.nn.functional.dropout(x, 0.25)
    y.sum().backward()
    assert backends("native_dropout") == backends("native_dropout_backward") == {"musa"}
    kept = y.detach().cpu()
    assert set(kept.unique().tolist()) == {0.0, pytest.approx(4 / 3)}
    assert (kept > 0).double().mean() == pytest.approx(0.75, abs=0.02)
    assert torch.equal(x.grad.cpu(), kept)
    assert torch.equal(torch.nn.functional.dropout(x, 1.0).detach().cpu(), torch.zeros(COUNT))


def test_what_has_no_exact_kernel_is_not_claimed(backends):
    torch.randperm(9, device=DEVICE)
    torch.multinomial(torch.ones(4, device=DEVICE), 2)
    torch.empty(3, device=DEVICE).exponential_()
    for operator in ("randperm.generator_out", "multinomial", "exponential_"):
        assert "musa" not in backends(operator)
