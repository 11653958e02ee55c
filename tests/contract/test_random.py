"""Random numbers: one stream a device, whatever kernel draws from it."""

import pytest
import torch
import torch.nn.functional as F

DEVICE = "flagos"

DRAWS = {
    "rand": lambda: torch.rand(7, device=DEVICE),
    "randn": lambda: torch.randn(7, device=DEVICE),
    "randint": lambda: torch.randint(0, 1000, (7,), device=DEVICE),
    "randperm": lambda: torch.randperm(50, device=DEVICE),
    "rand_like": lambda: torch.rand_like(torch.empty(7, device=DEVICE)),
    "randn_like": lambda: torch.randn_like(torch.empty(7, device=DEVICE)),
    "randint_like": lambda: torch.randint_like(torch.empty(7, device=DEVICE), 1000),
    "rand.out": lambda: torch.rand(7, out=torch.empty(7, device=DEVICE)),
    "normal_": lambda: torch.empty(7, device=DEVICE).normal_(),
    "uniform_": lambda: torch.empty(7, device=DEVICE).uniform_(),
    "exponential_": lambda: torch.empty(7, device=DEVICE).exponential_(),
    "bernoulli": lambda: torch.bernoulli(torch.full((200,), 0.5, device=DEVICE)),
    "bernoulli_": lambda: torch.empty(200, device=DEVICE).bernoulli_(),
    "multinomial": lambda: torch.multinomial(torch.ones(50, device=DEVICE), 20),
    "dropout": lambda: F.dropout(torch.ones(256, device=DEVICE)),
    "native_dropout": lambda: torch.native_dropout(torch.ones(256, device=DEVICE), 0.5, True)[0],
    "normal": lambda: torch.normal(torch.zeros(7, device=DEVICE), 1.0),
    "poisson": lambda: torch.poisson(torch.full((50,), 5.0, device=DEVICE)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_repeats_and_the_stream_moves_on(name):
    """C1, C3: dropout, *_like, out= and all others draw from the one generator that the seed and the state name."""
    draw = DRAWS[name]
    torch.manual_seed(11)
    first, second = draw().cpu(), draw().cpu()
    torch.manual_seed(11)
    assert torch.equal(first, draw().cpu())
    assert torch.equal(second, draw().cpu())
    assert not torch.equal(first, second)
    state = torch.flagos.get_rng_state()
    third = draw().cpu()
    torch.flagos.set_rng_state(state)
    assert torch.equal(third, draw().cpu())


def test_two_draws_of_any_kind_do_not_overlap():
    seen = [torch.rand(1000, device=DEVICE).cpu() for _ in range(4)]
    numbers = torch.cat(seen)
    assert numbers.unique().numel() > 3990
    assert abs(numbers.mean() - 0.5) < 0.03


def test_drawing_on_the_device_leaves_the_cpu_alone():
    before = torch.get_rng_state()
    torch.rand(5, device=DEVICE)
    F.dropout(torch.ones(9, device=DEVICE))
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.devices(2)
def test_devices_have_their_own_streams():
    """C3: two devices do not share a sequence."""
    torch.flagos.manual_seed_all(5)
    a = torch.rand(4, device="flagos:0")
    state = torch.flagos.get_rng_state(1)
    torch.rand(4, device="flagos:0")
    assert torch.equal(state, torch.flagos.get_rng_state("flagos:1"))
    b = torch.rand(4, device="flagos:1")
    assert torch.equal(a.cpu(), b.cpu())  # one seed, equal devices, as torch.cuda
    torch.flagos.set_device(1)
    torch.flagos.manual_seed(9)
    assert torch.flagos.initial_seed() == 9
    assert torch.flagos.default_generators[0].initial_seed() == 5


def test_state_is_sixteen_bytes():
    torch.flagos.manual_seed(123)
    state = torch.flagos.get_rng_state()
    assert state.dtype == torch.uint8 and state.shape == (16,) and state.device.type == "cpu"
    seed, offset = state.view(torch.int64).tolist()
    assert seed == 123 and offset == 0
    torch.rand(5, device=DEVICE)
    seed, offset = torch.flagos.get_rng_state().view(torch.int64).tolist()
    assert seed == 123 and offset > 0
    with pytest.raises((RuntimeError, TypeError)):
        torch.flagos.set_rng_state(torch.zeros(3, dtype=torch.uint8))


def test_all_states():
    states = torch.flagos.get_rng_state_all()
    assert len(states) == torch.flagos.device_count()
    x = torch.rand(3, device=DEVICE)
    torch.flagos.set_rng_state_all(states)
    assert torch.equal(x.cpu(), torch.rand(3, device=DEVICE).cpu())


def test_default_generators_are_like_a_tuple():
    generators = torch.flagos.default_generators
    count = torch.flagos.device_count()
    assert len(generators) == count and len(list(generators)) == count
    assert generators[-1].device.index == count - 1
    assert isinstance(generators[:1], tuple) and len(generators[:1]) == 1
    assert generators[0] == generators[0] or generators[0].initial_seed() == generators[0].initial_seed()
    for index in (count, -count - 1):
        with pytest.raises(IndexError):
            generators[index]
    with pytest.raises(TypeError):
        generators["0"]
    generators[0].manual_seed(77)
    assert torch.flagos.initial_seed() == 77


def test_own_generator():
    g = torch.Generator(device=DEVICE).manual_seed(3)
    default = torch.flagos.get_rng_state()
    a = torch.rand(6, device=DEVICE, generator=g)
    assert torch.equal(default, torch.flagos.get_rng_state())
    b = torch.rand(6, device=DEVICE, generator=g)
    assert torch.equal(a.cpu(), torch.rand(6, device=DEVICE, generator=g.manual_seed(3)).cpu())
    assert not torch.equal(a.cpu(), b.cpu())
    clone = g.clone_state() if hasattr(g, "clone_state") else None
    if clone is not None:
        assert torch.equal(
            torch.rand(3, device=DEVICE, generator=g).cpu(), torch.rand(3, device=DEVICE, generator=clone).cpu()
        )
    with pytest.raises(RuntimeError):
        torch.rand(3, device=DEVICE, generator=torch.Generator())


def test_seed_is_random():
    torch.flagos.seed()
    a = torch.flagos.initial_seed()
    torch.flagos.seed_all()
    assert a != torch.flagos.initial_seed()
    assert len({g.initial_seed() for g in torch.flagos.default_generators}) == 1


@pytest.mark.filterwarnings("ignore:.*reports that you have")
@pytest.mark.parametrize("options", [{"device_type": DEVICE}, {"device_type": DEVICE, "devices": [0]}, {}])
def test_fork_rng(options):
    torch.manual_seed(1)
    a = torch.rand(3, device=DEVICE)
    torch.manual_seed(1)
    with torch.random.fork_rng(**options):
        torch.manual_seed(99)
        torch.rand(8, device=DEVICE)
    assert torch.equal(a.cpu(), torch.rand(3, device=DEVICE).cpu())


def test_checkpoint_keeps_the_random_state():
    x = torch.ones(64, device=DEVICE, requires_grad=True)
    torch.manual_seed(4)
    out = torch.utils.checkpoint.checkpoint(lambda t: F.dropout(t) * t, x, use_reentrant=False)
    out.sum().backward()
    assert torch.equal((x.grad != 0).cpu(), (out != 0).cpu())


def test_a_seed_before_first_use_counts(python):
    code = """
        import torch
        {}
        assert not torch.flagos.is_initialized()
        print(torch.rand(4, device="flagos").tolist())
    """
    runs = {
        python(code.format(seed)).stdout
        for seed in ("torch.manual_seed(8)", "torch.flagos.manual_seed(8)", "torch.flagos.manual_seed_all(8)")
    }
    assert len(runs) == 1
    assert python(code.format("torch.manual_seed(9)")).stdout not in runs
