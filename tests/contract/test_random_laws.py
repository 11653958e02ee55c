"""Every random operator draws from the law it names: Kolmogorov-Smirnov and chi-square tests at a fixed seed.

The bounds are those that a right sample passes with all but one chance in 100 000; with the seed fixed each test
always gives the same answer. ``test_wrong_samples_are_noticed`` shows what the checks are worth.
"""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

DEVICE = "flagos"
N = 60_000
RARE = 1e-5
Z = 4.2649  # of the normal law, one-sided, for RARE


def _numbers(sample):
    return sample.detach().cpu().double().numpy().ravel()


def follows(sample, cdf):
    """Kolmogorov-Smirnov: whether the greatest distance from the distribution function is what chance allows."""
    values = np.sort(_numbers(sample))
    assert np.isfinite(values).all()
    wanted, count = np.asarray(cdf(values)), len(values)
    steps = np.arange(count + 1) / count
    distance = max((steps[1:] - wanted).max(), (wanted - steps[:-1]).max())
    return distance * math.sqrt(count) < math.sqrt(-math.log(RARE / 2) / 2)


def counts_fit(counts, probabilities):
    """Chi-square: whether counts in cells are what chance allows; cells that expect fewer than five are put together."""
    counts, wanted = np.asarray(counts, float), np.asarray(probabilities, float)
    assert abs(wanted.sum() - 1) < 1e-6 and counts.sum() > 0
    wanted = wanted * counts.sum()
    small = wanted < 5
    if small.any():
        counts = np.append(counts[~small], counts[small].sum())
        wanted = np.append(wanted[~small], wanted[small].sum())
    if wanted[-1] < 1e-9:
        if counts[-1]:
            return False
        counts, wanted = counts[:-1], wanted[:-1]
    freedom = len(counts) - 1
    statistic = ((counts - wanted) ** 2 / wanted).sum()
    # Wilson and Hilferty's approximation of the chi-square law's quantile.
    return statistic < freedom * (1 - 2 / (9 * freedom) + Z * math.sqrt(2 / (9 * freedom))) ** 3


def whole_numbers_fit(sample, mass, below):
    """Chi-square of whole numbers 0 .. below - 1 and one cell for the rest, `mass` being their probabilities."""
    values = _numbers(sample).round().astype(np.int64)
    assert (values >= 0).all()
    counts = np.bincount(np.minimum(values, below), minlength=below + 1)
    probabilities = np.array([mass(k) for k in range(below)])
    return counts_fit(counts, np.append(probabilities, max(0.0, 1 - probabilities.sum())))


def uniform(low=0.0, high=1.0):
    return lambda x: np.clip((x - low) / (high - low), 0, 1)


def normal(mean=0.0, deviation=1.0):
    return lambda x: torch.special.ndtr(torch.from_numpy((x - mean) / deviation)).numpy()


def gamma(shape, rate=1.0):
    return lambda x: torch.special.gammainc(torch.tensor(shape).double(), torch.from_numpy(x * rate)).numpy()


def poisson(rate):
    return lambda k: math.exp(k * math.log(rate) - rate - math.lgamma(k + 1))


def binomial(count, p):
    def mass(k):
        ways = math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1)
        return math.exp(ways + k * math.log(p) + (count - k) * math.log1p(-p))

    return mass


def geometric(p):
    return lambda k: 0.0 if k < 1 else p * (1 - p) ** (k - 1)


def _empty(dtype=torch.float32):
    return torch.empty(N, dtype=dtype, device=DEVICE)


def _full(value):
    return torch.full((N,), float(value), device=DEVICE)


def _distribution(name, *parameters):
    def draw():  # the tests are collected without a device, too
        made = getattr(torch.distributions, name)(*[torch.tensor(p, device=DEVICE) for p in parameters])
        return made.sample((N,))

    return draw


ENDS = np.array([-1.0, 0.5])

CONTINUOUS = {
    "rand": (lambda: torch.rand(N, device=DEVICE), uniform()),
    "rand double": (lambda: torch.rand(N, device=DEVICE, dtype=torch.float64), uniform()),
    "uniform_": (lambda: _empty().uniform_(-3, 5), uniform(-3, 5)),
    "randn": (lambda: torch.randn(N, device=DEVICE), normal()),
    "randn double": (lambda: torch.randn(N, device=DEVICE, dtype=torch.float64), normal()),
    "randn odd": (lambda: torch.cat([torch.randn(15, device=DEVICE) for _ in range(2000)]), normal()),
    "complex": (lambda: torch.view_as_real(torch.randn(N // 2, dtype=torch.complex64, device=DEVICE)), normal(0, 0.5**0.5)),
    "normal_": (lambda: _empty().normal_(-2, 3), normal(-2, 3)),
    "normal_ strided": (lambda: torch.empty(N, 2, device=DEVICE).t()[0].normal_(1, 2), normal(1, 2)),
    "normal tensors": (lambda: (torch.normal(_full(2), _full(4))), normal(2, 4)),
    "log_normal_": (lambda: _empty().log_normal_(0.5, 0.75).log(), normal(0.5, 0.75)),
    "exponential_": (lambda: _empty().exponential_(2.5), lambda x: 1 - np.exp(-2.5 * x)),
    "cauchy_": (lambda: _empty().cauchy_(1, 2), lambda x: 0.5 + np.arctan((x - 1) / 2) / math.pi),
    "trunc_normal_": (
        lambda: torch.nn.init.trunc_normal_(_empty(), a=-1.0, b=0.5),
        lambda x: (normal()(x) - normal()(ENDS[:1])) / (normal()(ENDS[1:]) - normal()(ENDS[:1])),
    ),
    "gamma 0.5": (_distribution("Gamma", 0.5, 2.0), gamma(0.5, 2.0)),
    "gamma 3": (_distribution("Gamma", 3.0, 1.0), gamma(3.0)),
    "chi2": (_distribution("Chi2", 5.0), gamma(2.5, 0.5)),
    "dirichlet": (lambda: _distribution("Dirichlet", [1.0, 1.0, 1.0])()[:, 0], lambda x: 1 - (1 - x) ** 2),
    "beta": (_distribution("Beta", 2.0, 1.0), lambda x: x**2),
    "laplace": (_distribution("Laplace", 0.0, 1.0), lambda x: 0.5 + 0.5 * np.sign(x) * (1 - np.exp(-np.abs(x)))),
    "gumbel": (_distribution("Gumbel", 0.0, 1.0), lambda x: np.exp(-np.exp(-x))),
    "rrelu slopes": (lambda: -F.rrelu(_full(-1), 0.1, 0.6, training=True), uniform(0.1, 0.6)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_laws(name):
    draw, cdf = CONTINUOUS[name]
    assert follows(draw(), cdf)


DISCRETE = {
    "bernoulli": (lambda: torch.bernoulli(_full(0.3)), lambda k: 0.3 if k else 0.7, 2),
    "bernoulli p": (lambda: torch.bernoulli(_empty(), 0.01), lambda k: 0.01 if k else 0.99, 2),
    "bernoulli_ bool": (lambda: _empty(torch.bool).bernoulli_(0.9), lambda k: 0.9 if k else 0.1, 2),
    "poisson 0.7": (lambda: torch.poisson(_full(0.7)), poisson(0.7), 6),
    "poisson 9": (lambda: torch.poisson(_full(9)), poisson(9), 25),
    "poisson 60": (lambda: torch.poisson(_full(60)), poisson(60), 110),
    "binomial few": (lambda: torch.binomial(_full(12), _full(0.3)), binomial(12, 0.3), 13),
    "binomial many": (lambda: torch.binomial(_full(300), _full(0.6)), binomial(300, 0.6), 301),
    "geometric_": (lambda: _empty().geometric_(0.2), geometric(0.2), 40),
    "geometric_ whole": (lambda: _empty(torch.int64).geometric_(0.7), geometric(0.7), 12),
    "randint": (lambda: torch.randint(0, 7, (N,), device=DEVICE), lambda k: 1 / 7, 7),
    "randint shifted": (lambda: torch.randint(-5, 6, (N,), device=DEVICE) + 5, lambda k: 1 / 11, 11),
    "randint float": (lambda: torch.randint(0, 9, (N,), device=DEVICE, dtype=torch.float32), lambda k: 1 / 9, 9),
    "multinomial": (
        lambda: torch.multinomial(torch.tensor([1.0, 0.0, 3.0, 6.0], device=DEVICE), N, replacement=True),
        lambda k: (0.1, 0.0, 0.3, 0.6)[k],
        4,
    ),
    "multinomial rows": (
        lambda: torch.multinomial(torch.tensor([1.0, 3.0, 6.0], device=DEVICE).expand(N, 3), 1),
        lambda k: (0.1, 0.3, 0.6)[k],
        3,
    ),
    "categorical": (_distribution("Categorical", [0.2, 0.5, 0.3]), lambda k: (0.2, 0.5, 0.3)[k], 3),
    "dropout": (lambda: F.dropout(_full(1), 0.4) * 0.6, lambda k: 0.6 if k else 0.4, 2),
    "native_dropout": (lambda: torch.native_dropout(_full(1), 0.25, True)[1], lambda k: 0.75 if k else 0.25, 2),
    "alpha_dropout": (lambda: F.alpha_dropout(_full(1), 0.4, True) > 0, lambda k: 0.6 if k else 0.4, 2),
    "dropout1d": (
        lambda: F.dropout1d(torch.ones(N, 2, 3, device=DEVICE), 0.5).sum(2) / 6,
        lambda k: 0.5,
        2,
    ),
    "feature_alpha_dropout": (
        lambda: F.feature_alpha_dropout(torch.ones(N, 1, 2, device=DEVICE), 0.5, True)[:, 0, 0] > 0,
        lambda k: 0.5,
        2,
    ),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_laws(name):
    draw, mass, below = DISCRETE[name]
    assert whole_numbers_fit(draw(), mass, below)


def test_bernoulli_uses_each_elements_own_probability():
    p = torch.linspace(0, 1, 11).repeat_interleave(N // 11)
    drawn = torch.bernoulli(p.to(DEVICE)).cpu().view(11, -1)
    assert drawn[0].sum() == 0 and drawn[-1].all()
    for row, chance in zip(drawn[1:-1], torch.linspace(0, 1, 11)[1:-1].tolist(), strict=True):
        assert whole_numbers_fit(row, lambda k, c=chance: c if k else 1 - c, 2)


# Values of random_() without bounds lie in [0, 2^bits).
BITS = {torch.uint8: 8, torch.int8: 7, torch.int16: 15, torch.int32: 31, torch.int64: 63, torch.float16: 11,
        torch.bfloat16: 8, torch.float32: 24, torch.float64: 53}  # fmt: skip


@pytest.mark.parametrize("dtype", BITS)
def test_random_fills_the_range_of_a_type(dtype):
    values = _numbers(torch.empty(N, dtype=dtype, device=DEVICE).random_())
    top = 2.0 ** BITS[dtype]
    # Floating types hold 2^bits itself, too.
    assert values.min() >= 0 and values.max() <= top
    cells = np.minimum((values / top * 64).astype(int), 63)
    if BITS[dtype] >= 15 or not dtype.is_floating_point:
        assert counts_fit(np.bincount(cells, minlength=64), np.full(64, 1 / 64))
    else:
        assert abs(values.mean() / (top / 2) - 1) < Z * math.sqrt(1 / 3 / N) + 0.01


def test_random_bool_is_a_coin():
    assert whole_numbers_fit(_empty(torch.bool).random_(), lambda k: 0.5, 2)


@pytest.mark.parametrize(
    "low, high", [(-(2**63), None), (-(2**62), 2**62), (0, 2**40), (0, 2**31 + 12345), (-(2**40), 2**33), (5, 6)]
)
def test_wide_ranges_are_even_in_their_upper_and_their_lower_bits(low, high):
    drawn = torch.empty(N, dtype=torch.int64, device=DEVICE).random_(low, high).cpu()
    above = 2**63 if high is None else high
    assert low <= int(drawn.min()) and int(drawn.max()) < above
    width = above - low
    if width < 64:
        return
    offsets = np.array([int(value) - low for value in drawn.tolist()], dtype=object)
    upper = np.array([int(value * 64 // width) for value in offsets])
    assert counts_fit(np.bincount(upper, minlength=64), np.full(64, 1 / 64))
    lower = np.array([int(value % 64) for value in offsets])
    assert counts_fit(np.bincount(lower, minlength=64), np.full(64, 1 / 64))


def test_permutations_are_equally_likely():
    drawn = torch.cat([torch.randperm(4, device=DEVICE) for _ in range(6000)]).view(-1, 4).cpu().numpy()
    assert (np.sort(drawn, axis=1) == np.arange(4)).all()
    _, counts = np.unique(drawn @ np.array([64, 16, 4, 1]), return_counts=True)
    assert len(counts) == 24 and counts_fit(counts, np.full(24, 1 / 24))


def test_a_long_permutation_moves_everything():
    drawn = torch.randperm(N, device=DEVICE).cpu().numpy()
    assert (np.sort(drawn) == np.arange(N)).all()
    assert abs(np.corrcoef(np.arange(N), drawn)[0, 1]) < Z / math.sqrt(N)
    table, _, _ = np.histogram2d(np.arange(N) // (N // 8), drawn // (N // 8), bins=8)
    assert counts_fit(table.ravel(), np.full(64, 1 / 64))


def test_drawing_without_replacement_follows_the_weights():
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    rows = torch.tensor(weights, dtype=torch.float32, device=DEVICE).expand(N, 4)
    drawn = torch.multinomial(rows, 2).cpu().numpy()
    assert (drawn[:, 0] != drawn[:, 1]).all()
    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    counts = [((drawn[:, 0] == i) & (drawn[:, 1] == j)).sum() for i, j in pairs]
    assert counts_fit(counts, [weights[i] * weights[j] / (1 - weights[i]) for i, j in pairs])


def test_fractional_pooling_starts_its_windows_where_a_uniform_number_says():
    image = torch.arange(64.0, device=DEVICE).expand(6000, 1, 4, 64)
    _, index = F.fractional_max_pool2d(image, 2, output_size=(2, 20), return_indices=True)
    starts = (index[:, 0, 0, :19] % 64 - 1).cpu().numpy()  # the last column of a window has its maximum

    def windows(u):
        alpha = (64 - 2) / 19
        return ((np.arange(19) + u[:, None]) * alpha).astype(int) - (u[:, None] * alpha).astype(int)

    patterns, chances = np.unique(windows((np.arange(100_000) + 0.5) / 100_000), axis=0, return_counts=True)
    cells = {tuple(pattern): cell for cell, pattern in enumerate(patterns)}
    found = [cells[tuple(row)] for row in starts]
    assert counts_fit(np.bincount(found, minlength=len(cells)), chances / chances.sum())


WRONG = {
    "uniform that ends early": lambda: follows(torch.rand(N) * 0.98, uniform()),
    "uniform with too few bits": lambda: follows((torch.rand(N) * 32).floor() / 32, uniform()),
    "normal that is too wide": lambda: follows(torch.randn(N) * 1.03, normal()),
    "normal that is shifted": lambda: follows(torch.randn(N) + 0.03, normal()),
    "exponential of another rate": lambda: follows(torch.empty(N).exponential_(2.5), lambda x: 1 - np.exp(-2.6 * x)),
    "gamma of another shape": lambda: follows(torch._standard_gamma(torch.full((N,), 3.1)), gamma(3.0)),
    "numbers that come in fours": lambda: follows(torch.rand(N // 512).repeat(512), uniform()),
    "biased coin": lambda: whole_numbers_fit(torch.bernoulli(torch.full((N,), 0.512)), lambda k: 0.5, 2),
    "poisson of another rate": lambda: whole_numbers_fit(torch.poisson(torch.full((N,), 9.2)), poisson(9), 25),
    "rounded normal for a binomial": lambda: whole_numbers_fit(
        (torch.randn(N) * 1.58745 + 3.6).round().clamp(0, 12), binomial(12, 0.3), 13
    ),
    "modulo of a power of two": lambda: whole_numbers_fit(torch.randint(0, 64, (N,)) % 7, lambda k: 1 / 7, 7),
    "an impossible value": lambda: counts_fit([N // 2, N // 2, 1], [0.5, 0.5, 0.0]),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_samples_are_noticed(name):
    assert not WRONG[name]()
