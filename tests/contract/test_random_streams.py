"""One stream of random numbers a device: the same bits everywhere, nothing twice, nothing that leans on its neighbour."""

import hashlib
import math

import pytest
import torch
import torch.nn.functional as F

DEVICE = "flagos"
Z = 4.42  # two-sided, one chance in 100 000

PROGRAM = """
import hashlib, torch
import torch.nn.functional as F
{before}
torch.manual_seed(1)
digest = hashlib.sha256()
one = torch.ones(64, device="flagos")
for draw in (
    lambda: torch.rand(64, device="flagos"),
    lambda: torch.randn(64, device="flagos"),
    lambda: torch.randperm(64, device="flagos"),
    lambda: torch.randint(0, 2**40, (64,), device="flagos"),
    lambda: F.dropout(one),
    lambda: torch.multinomial(one, 20),
    lambda: torch.poisson(one * 9),
    lambda: torch._standard_gamma(one),
    lambda: torch.empty(64, device="flagos").exponential_(),
    lambda: torch.empty(64, device="flagos", dtype=torch.int64).random_(),
):
    digest.update(bytes(draw().cpu().view(torch.uint8).tolist()))
    {between}
print(digest.hexdigest())
"""


def _digest(python, before="", between="pass", **environ):
    return python(PROGRAM.format(before=before, between=between), **environ).stdout.strip()


def test_a_seed_gives_the_same_bits_in_every_process(python):
    plain = _digest(python, PYTHONHASHSEED="1")
    assert len(plain) == 64
    before = "torch.set_num_threads(3); torch.rand(7, device='flagos')"
    between = "torch.rand(5); torch.rand(9, device=f'flagos:{torch.flagos.device_count() - 1}', generator=other)"
    before += "; other = torch.Generator(f'flagos:{torch.flagos.device_count() - 1}')"
    settings = {"PYTHONHASHSEED": "2", "FLAGOS_USE_CACHING_ALLOCATOR": "0", "OMP_NUM_THREADS": "1"}
    assert plain == _digest(python, before=before, between=between, **settings)


def test_no_two_of_many_draws_are_alike():
    """A draw that remembers only 32 bits of its place in the stream would repeat another one after some ten thousands."""
    count = 120_000
    drawn = torch.empty(count, 2, device=DEVICE)
    for row in drawn.unbind():
        row.uniform_()
    assert torch.unique(drawn.cpu(), dim=0).shape[0] == count


def test_the_first_numbers_of_successive_draws_are_uniform_and_unrelated():
    drawn = torch.cat([torch.rand(2, device=DEVICE) for _ in range(20_000)]).cpu().view(-1, 2)
    first = drawn[:, 0].double()
    count = first.numel()
    distance = (first.sort().values - (torch.arange(count) + 0.5) / count).abs().max() + 0.5 / count
    assert distance * math.sqrt(count) < math.sqrt(-math.log(5e-6) / 2)
    centred = (first - 0.5) * math.sqrt(12)
    for lag in (1, 2, 3, 4, 7, 16, 64, 1000):
        assert abs((centred[:-lag] * centred[lag:]).mean()) < Z / math.sqrt(count - lag), lag
    second = (drawn[:, 1].double() - 0.5) * math.sqrt(12)
    assert abs((centred * second).mean()) < Z / math.sqrt(count)


@pytest.mark.parametrize("draw", [torch.rand, torch.randn])
def test_the_numbers_of_one_draw_are_unrelated(draw):
    numbers = draw(200_000, device=DEVICE).cpu().double()
    numbers = (numbers - numbers.mean()) / numbers.std()
    for lag in (1, 2, 3, 4, 8, 16, 624, 4096):
        product = numbers[:-lag] * numbers[lag:]
        assert abs(product.mean()) < Z * product.std() / math.sqrt(product.numel()), lag


def _correlation(a, b):
    return torch.corrcoef(torch.stack([a.cpu().double().flatten(), b.cpu().double().flatten()]))[0, 1].abs()


@pytest.mark.parametrize("one, other", [(0, 1), (1, 2), (1, 2**32 + 1), (5, 5 + 2**63), (2**64 - 1, 0)])
def test_neighbouring_seeds_give_unrelated_numbers(one, other):
    count = 50_000

    def draw(seed):
        return torch.randn(count, device=DEVICE, generator=torch.Generator(DEVICE).manual_seed(seed))

    assert _correlation(draw(one), draw(other)) < Z / math.sqrt(count)


@pytest.mark.devices(2)
def test_devices_with_seeds_of_their_own_are_unrelated():
    count = 50_000
    drawn = []
    for index in range(2):
        with torch.flagos.device(index):
            torch.flagos.manual_seed(40 + index)
            drawn.append(torch.randn(count, device=DEVICE))
    assert [tensor.device.index for tensor in drawn] == [0, 1]
    assert _correlation(*drawn) < Z / math.sqrt(count)


def test_the_device_and_the_cpu_do_not_draw_the_same_numbers():
    torch.manual_seed(3)
    count = 50_000
    on_device = torch.rand(count, device=DEVICE)
    assert _correlation(on_device, torch.rand(count)) < Z / math.sqrt(count)


def test_draws_of_different_kinds_share_no_part_of_the_stream():
    count = 4096
    drawn = [
        torch.rand(count, device=DEVICE),
        torch.empty(count, device=DEVICE).uniform_(),
        1 - torch.exp(-torch.empty(count, device=DEVICE).exponential_()),
        torch.special.ndtr(torch.randn(count, device=DEVICE)),
        torch.randint(0, 2**24, (count,), device=DEVICE) / 2**24,
        F.dropout(torch.ones(count, device=DEVICE)) / 2,
        torch.randperm(count, device=DEVICE) / count,
    ]
    for i, one in enumerate(drawn):
        for other in drawn[:i]:
            for shift in range(-4, 5):
                assert _correlation(one[max(0, shift) :][: count - 4], other[max(0, -shift) :][: count - 4]) < 0.08
    values = torch.cat([tensor.cpu() for tensor in drawn[:2]])
    assert values.unique().numel() > 2 * count - 16


def test_a_sample_that_repeats_its_neighbour_would_be_noticed():
    """What the bounds above are worth: one number in sixteen copied from a neighbour breaks them."""
    numbers = torch.randn(50_000)
    copied = torch.where(torch.arange(50_000) % 16 == 0, numbers, torch.randn(50_000))
    assert _correlation(numbers, copied) > Z / math.sqrt(50_000)


def test_interleaving_devices_and_generators_is_reproducible():
    def program():
        torch.manual_seed(31)
        g, digest = torch.Generator(DEVICE).manual_seed(5), hashlib.sha256()
        x = torch.ones(33, device=DEVICE)
        for step in range(8):
            parts = [torch.rand(3), torch.randn(5, device=DEVICE), torch.rand(2, device=DEVICE, generator=g)]
            parts += [F.dropout(x, 0.3), torch.randperm(step + 2, device=DEVICE)]
            if step % 3 == 0:
                with torch.flagos.stream(torch.flagos.Stream()):
                    parts.append(torch.randn(4, device=DEVICE))
                torch.flagos.synchronize()
            for part in parts:
                digest.update(part.cpu().numpy().tobytes())
        return digest.hexdigest()

    assert program() == program()
