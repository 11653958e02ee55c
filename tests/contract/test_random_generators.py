"""Generators and their states: explicit and default ones, saved, copied, pickled, forked; as those of ``torch.cuda``."""

import copy
import pickle

import pytest
import torch
import torch.nn.functional as F

DEVICE = "flagos"
COUNT = 101


def _empty(dtype=torch.float32):
    return torch.empty(COUNT, dtype=dtype, device=DEVICE)


def _full(value):
    return torch.full((COUNT,), value, device=DEVICE)


# Everything that takes `generator=`; each draws COUNT numbers or more.
EXPLICIT = {
    "rand": lambda g: torch.rand(COUNT, device=DEVICE, generator=g),
    "randn": lambda g: torch.randn(COUNT, device=DEVICE, generator=g),
    "randint": lambda g: torch.randint(0, 1000, (COUNT,), device=DEVICE, generator=g),
    "randperm": lambda g: torch.randperm(COUNT, device=DEVICE, generator=g),
    "rand_like": lambda g: torch.rand_like(_empty(), generator=g),
    "randn_like": lambda g: torch.randn_like(_empty(), generator=g),
    "randint_like": lambda g: torch.randint_like(_empty(), 1000, generator=g),
    "uniform_": lambda g: _empty().uniform_(generator=g),
    "normal_": lambda g: _empty().normal_(generator=g),
    "log_normal_": lambda g: _empty().log_normal_(generator=g),
    "exponential_": lambda g: _empty().exponential_(generator=g),
    "geometric_": lambda g: _empty().geometric_(0.01, generator=g),
    "cauchy_": lambda g: _empty().cauchy_(generator=g),
    "random_": lambda g: _empty(torch.int64).random_(generator=g),
    "random_ to": lambda g: _empty().random_(1000, generator=g),
    "random_ from to": lambda g: _empty().random_(-500, 500, generator=g),
    "bernoulli": lambda g: torch.bernoulli(_full(0.5), generator=g),
    "bernoulli p": lambda g: torch.bernoulli(_empty(), 0.5, generator=g),
    "bernoulli_": lambda g: _empty().bernoulli_(0.5, generator=g),
    "bernoulli_ tensor": lambda g: _empty().bernoulli_(_full(0.5), generator=g),
    "normal tensors": lambda g: torch.normal(_full(0.0), _full(1.0), generator=g),
    "normal tensor float": lambda g: torch.normal(_full(0.0), 1.0, generator=g),
    "normal float tensor": lambda g: torch.normal(0.0, _full(1.0), generator=g),
    "normal size": lambda g: torch.normal(0.0, 1.0, (COUNT,), device=DEVICE, generator=g),
    "poisson": lambda g: torch.poisson(_full(9.0), generator=g),
    "binomial": lambda g: torch.binomial(_full(30.0), _full(0.5), generator=g),
    "multinomial": lambda g: torch.multinomial(_full(1.0), COUNT // 2, generator=g),
    "multinomial again": lambda g: torch.multinomial(_full(1.0), COUNT, replacement=True, generator=g),
    "rrelu_with_noise": lambda g: torch._C._nn.rrelu_with_noise(_full(-1.0), _empty(), 0.1, 0.5, True, generator=g),
    "_standard_gamma": lambda g: torch._standard_gamma(_full(2.0), generator=g),
    "_sample_dirichlet": lambda g: torch._sample_dirichlet(_full(2.0), generator=g),
    "rand out": lambda g: torch.rand(COUNT, out=_empty(), generator=g),
    "randperm out": lambda g: torch.randperm(COUNT, out=_empty(torch.int64), generator=g),
}

# Operators that draw from the default generator only.
DEFAULT = {name: lambda draw=draw: draw(None) for name, draw in EXPLICIT.items()} | {
    "dropout": lambda: F.dropout(_full(1.0)),
    "dropout_": lambda: F.dropout(_full(1.0), inplace=True),
    "native_dropout": lambda: torch.native_dropout(_full(1.0), 0.5, True)[0],
    "alpha_dropout": lambda: F.alpha_dropout(_full(1.0), 0.5, True),
    "feature_alpha_dropout": lambda: F.feature_alpha_dropout(torch.ones(COUNT, 3, 2, device=DEVICE), 0.5, True),
    "dropout2d": lambda: F.dropout2d(torch.ones(COUNT, 3, 2, 2, device=DEVICE)),
    "rrelu": lambda: F.rrelu(_full(-1.0), 0.1, 0.5, True),
    "rrelu_": lambda: F.rrelu(_full(-1.0), 0.1, 0.5, True, inplace=True),
    "gumbel_softmax": lambda: F.gumbel_softmax(_full(0.0)),
    "attention": lambda: F.scaled_dot_product_attention(*[torch.eye(COUNT, device=DEVICE)[None, None]] * 3, dropout_p=0.5),
    "Gamma": lambda: torch.distributions.Gamma(_full(2.0), _full(1.0)).sample(),
    "Categorical": lambda: torch.distributions.Categorical(torch.ones(9, device=DEVICE)).sample((COUNT,)),
    "fractional_max_pool2d": lambda: F.fractional_max_pool2d(
        torch.arange(COUNT * 400.0, device=DEVICE).view(1, COUNT, 20, 20), 3, output_ratio=(0.5, 0.5)
    ),
    "LSTM": lambda: torch.nn.LSTM(3, 4, 2, dropout=0.5, device=DEVICE)(torch.ones(COUNT, 1, 3, device=DEVICE))[0],
    "init": lambda: torch.nn.init.trunc_normal_(_empty()),
}


@pytest.mark.parametrize("name", EXPLICIT)
def test_a_generator_of_the_users_serves_and_the_default_one_is_left_alone(name):
    draw, g = EXPLICIT[name], torch.Generator(DEVICE).manual_seed(21)
    default, cpu = torch.flagos.get_rng_state(), torch.get_rng_state()
    first, second = draw(g).cpu(), draw(g).cpu()
    assert not torch.equal(first, second)
    assert torch.equal(default, torch.flagos.get_rng_state()) and torch.equal(cpu, torch.get_rng_state())
    g.manual_seed(21)
    assert torch.equal(first, draw(g).cpu()) and torch.equal(second, draw(g).cpu())
    torch.manual_seed(21)
    assert torch.equal(first, draw(None).cpu())  # the default generator with the same seed gives the same bits


@pytest.mark.parametrize("name", EXPLICIT)
def test_a_generator_of_another_device_is_refused_in_cudas_words(name):
    with pytest.raises(RuntimeError, match="Expected a 'flagos' device type for generator but found 'cpu'"):
        EXPLICIT[name](torch.Generator())


def test_a_generator_of_the_device_cannot_serve_the_cpu():
    for draw in (lambda g: torch.rand(3, generator=g), lambda g: torch.empty(3).normal_(generator=g)):
        with pytest.raises(RuntimeError, match="flagos"):
            draw(torch.Generator(DEVICE))


@pytest.mark.parametrize("name", DEFAULT)
def test_a_state_brings_back_the_draws_after_it(name):
    draw = DEFAULT[name]
    torch.rand(3, device=DEVICE)  # in the midst of the stream
    state = torch.flagos.get_rng_state()
    first = draw().cpu()
    after = torch.flagos.get_rng_state()
    second = draw().cpu()
    assert not torch.equal(state, after) and not torch.equal(first, second)
    torch.flagos.set_rng_state(after)
    assert torch.equal(second, draw().cpu())
    torch.flagos.set_rng_state(state)
    assert torch.equal(first, draw().cpu()) and torch.equal(after, torch.flagos.get_rng_state())


@pytest.mark.parametrize("name", DEFAULT)
def test_an_operator_on_a_side_stream_takes_the_same_place(name):
    """Whether work is queued depends on what the device is doing; the numbers must not."""

    def program(stream):
        torch.manual_seed(6)
        with torch.flagos.stream(stream):
            drawn = DEFAULT[name]()
        place = torch.flagos.default_generators[0].get_offset()
        stream.synchronize()
        return drawn.cpu(), place

    (one, here), (other, there) = program(torch.flagos.Stream()), program(torch.flagos.default_stream())
    assert here == there >= 4 and here % 4 == 0
    assert torch.equal(one, other)


def _moved():
    g = torch.Generator(DEVICE).manual_seed(13)
    torch.rand(9, device=DEVICE, generator=g)
    return g


@pytest.mark.parametrize(
    "copied",
    [lambda g: g.clone_state(), lambda g: pickle.loads(pickle.dumps(g)), copy.copy, copy.deepcopy],
    ids=["clone_state", "pickle", "copy", "deepcopy"],
)
def test_a_copy_goes_on_from_the_same_place_by_itself(copied):
    g = _moved()
    other = copied(g)
    assert other.device == g.device and other.initial_seed() == 13 and other.get_offset() == g.get_offset() > 0
    ahead = torch.rand(4, device=DEVICE, generator=g).cpu()
    assert torch.equal(ahead, torch.rand(4, device=DEVICE, generator=other).cpu())


def test_a_pickled_generator_goes_on_in_another_process(python):
    g = _moved()
    text = pickle.dumps(g).hex()
    code = f"""
        import pickle, torch
        print(torch.rand(4, device="flagos", generator=pickle.loads(bytes.fromhex("{text}"))).tolist())
    """
    assert python(code).stdout.strip() == str(torch.rand(4, device=DEVICE, generator=g).tolist())


def test_a_graph_safe_state_is_shared():
    g = _moved()
    shared, clone = g.graphsafe_get_state(), g.clone_state()
    first = torch.rand(4, device=DEVICE, generator=g).cpu()
    assert shared.get_offset() == g.get_offset() > clone.get_offset()
    other = torch.Generator(DEVICE).manual_seed(1)
    other.graphsafe_set_state(clone)
    assert torch.equal(first, torch.rand(4, device=DEVICE, generator=other).cpu())
    assert clone.get_offset() == other.get_offset()
    with pytest.raises(RuntimeError):
        g.graphsafe_set_state(torch.Generator())


def test_offsets_are_whole_blocks():
    g = torch.Generator(DEVICE)
    g.set_offset(8)
    assert g.get_offset() == 8
    with pytest.raises(RuntimeError, match="multiple of 4"):
        g.set_offset(3)


@pytest.mark.parametrize("seed, kept", [(0, 0), (-1, 2**64 - 1), (2**63, 2**63), (2**64 - 1, 2**64 - 1), (2**32, 2**32)])
def test_every_seed_that_pytorch_takes_is_kept(seed, kept):
    assert torch.Generator(DEVICE).manual_seed(seed).initial_seed() == kept
    torch.random.manual_seed(seed)
    assert torch.initial_seed() == torch.flagos.initial_seed() == kept


def test_seeds_that_differ_in_their_upper_half_give_different_numbers():
    def draw(seed):
        return torch.rand(8, device=DEVICE, generator=torch.Generator(DEVICE).manual_seed(seed)).cpu()

    assert not torch.equal(draw(5), draw(5 + 2**32))


def test_torch_seed_seeds_the_device_too():
    seed = torch.seed()
    assert torch.flagos.initial_seed() == seed
    a = torch.rand(4, device=DEVICE).cpu()
    torch.manual_seed(seed)
    assert torch.equal(a, torch.rand(4, device=DEVICE).cpu())


@pytest.mark.devices(2)
@pytest.mark.parametrize("devices, kept", [([0], (True, False)), ([1], (False, True)), ([0, 1], (True, True)), ([], (False, False))])
def test_fork_rng_keeps_the_devices_that_are_listed(devices, kept):
    before = torch.flagos.get_rng_state_all()
    with torch.random.fork_rng(devices, device_type=DEVICE):
        torch.manual_seed(99)
        for index in range(2):
            torch.rand(8, device=f"{DEVICE}:{index}")
    after = torch.flagos.get_rng_state_all()
    assert tuple(torch.equal(a, b) for a, b in zip(before, after, strict=True)) == kept
    torch.flagos.set_rng_state_all(before)


@pytest.mark.devices(2)
def test_devices_are_independent_of_the_order_in_which_they_draw():
    def program(order):
        torch.manual_seed(8)
        drawn = [[], []]
        for index in order:
            drawn[index].append(torch.randn(3, device=f"{DEVICE}:{index}").cpu())
        return torch.stack(drawn[0]), torch.stack(drawn[1])

    one, other = program([0, 1, 0, 1]), program([1, 1, 0, 0])
    assert torch.equal(one[0], other[0]) and torch.equal(one[1], other[1])


@pytest.mark.devices(2)
@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoint_replays_the_draws_of_every_device_it_uses(reentrant):
    masks = []

    def block(a, b):
        kept = F.dropout(torch.ones(64, device=f"{DEVICE}:1")), F.dropout(torch.ones(64, device=f"{DEVICE}:0"))
        masks.append([mask.cpu() for mask in kept])
        # One device after the other: two threads that recompute one block at once are beyond PyTorch's checkpoint.
        return ((a * kept[1]).to(b.device) + b) * kept[0]

    a = torch.ones(64, device=f"{DEVICE}:0", requires_grad=True)
    b = torch.ones(64, device=f"{DEVICE}:1", requires_grad=True)
    out = torch.utils.checkpoint.checkpoint(block, a, b, use_reentrant=reentrant)
    torch.rand(5, device=DEVICE)
    state = torch.flagos.get_rng_state_all()
    out.sum().backward()
    assert len(masks) == 2 and all(torch.equal(x, y) for x, y in zip(*masks, strict=True))
    assert torch.equal(a.grad.cpu(), masks[0][1] * masks[0][0]) and torch.equal(b.grad.cpu(), masks[0][0])
    for before, after in zip(state, torch.flagos.get_rng_state_all(), strict=True):
        assert torch.equal(before, after)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_number_of_threads_changes_no_bit(threads):
    def draw():
        torch.manual_seed(17)
        big = 70_000
        return torch.rand(big, device=DEVICE).cpu(), torch.randn(big, device=DEVICE).cpu(), torch.randperm(big, device=DEVICE).cpu()

    wanted, before = draw(), torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert all(torch.equal(a, b) for a, b in zip(draw(), wanted, strict=True))
    finally:
        torch.set_num_threads(before)
