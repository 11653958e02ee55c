"""Every optimizer of torch.optim, in each of its implementations, steps as on the CPU."""

import copy
import inspect
import io

import pytest
import torch
from torch import nn

from .conftest import DEVICE, twins

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


CASES = [(name, how) for name in EAGER for how in IMPLEMENTATIONS if accepts(name, how)] + [
    (name, "only") for name in EAGER if not any(accepts(name, how) for how in IMPLEMENTATIONS)
]


def make(name, model, how="only", **options):
    options = {"lr": 0.01, **OPTIONS.get(name, {}), **IMPLEMENTATIONS.get(how, {}), **options}
    parameters = [p for p in model.parameters() if p.dim() == 2] if name == "Muon" else list(model.parameters())
    return vars(torch.optim)[name](parameters, **options)


@pytest.fixture
def problem():
    """A model and a batch."""
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)), torch.randn(16, 6), torch.randn(16, 3)


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


def on_cpu(tree):
    if isinstance(tree, torch.Tensor):
        return tree.cpu()
    if isinstance(tree, dict):
        return {k: on_cpu(v) for k, v in tree.items()}
    return [on_cpu(v) for v in tree] if isinstance(tree, list | tuple) else tree


@pytest.mark.no_kernels
def test_every_optimizer_is_here():
    assert {"Adam", "AdamW", "Adagrad", "Adafactor", "LBFGS", "Muon", "SGD", "SparseAdam"} <= set(NAMES)
    assert len(CASES) > len(EAGER)


@pytest.mark.parametrize(("name", "how"), CASES)
def test_steps_and_state_are_those_of_the_cpu(name, how, problem, same):
    model, *batch = problem
    model, copied = twins(model)
    made, other = make(name, model, how), make(name, copied, how)
    steps(model, made, *batch)
    steps(copied, other, *batch)
    same(copied.state_dict(), model.state_dict())
    torch.testing.assert_close(on_cpu(other.state_dict()), made.state_dict(), rtol=0, atol=0)


@pytest.mark.parametrize("name", EAGER)
def test_the_implementation_that_pytorch_chooses_works(name, problem, same):
    model, *batch = problem
    model, copied = twins(model)
    steps(model, make(name, model), *batch)
    steps(copied, make(name, copied), *batch)
    # The CPU takes the plain loop and devices the multi-tensor one, which sums in another order.
    same(copied.state_dict(), model.state_dict(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", [*EAGER, "LBFGS"])
def test_a_saved_state_goes_on_where_it_was(name, problem, same):
    model, *batch = problem
    model = model.to(DEVICE)
    made = make(name, model)
    steps(model, made, *batch)
    saved = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": made.state_dict()}, saved)
    steps(model, made, *batch)

    saved.seek(0)
    state = torch.load(saved, map_location="cpu", weights_only=True)
    again = copy.deepcopy(model)
    again.load_state_dict(state["model"])
    resumed = make(name, again)
    resumed.load_state_dict(state["optimizer"])
    steps(again, resumed, *batch)
    same(again.state_dict(), {name: value.cpu() for name, value in model.state_dict().items()})


@pytest.mark.parametrize("search", (None, "strong_wolfe"))
def test_lbfgs_finds_what_the_cpu_finds(search, problem, same):
    model, *batch = problem
    model, copied = twins(model)
    steps(model, make("LBFGS", model, line_search_fn=search), *batch)
    steps(copied, make("LBFGS", copied, line_search_fn=search), *batch)
    same(copied.state_dict(), model.state_dict())


def test_sparse_gradients_step_as_on_the_cpu(same):
    model, copied = twins(nn.EmbeddingBag(20, 4, sparse=True, mode="sum"))
    tokens = torch.tensor([[1, 2, 2], [5, 1, 19]])
    for each in (model, copied):
        made = torch.optim.SparseAdam(list(each.parameters()))
        for _ in range(3):
            made.zero_grad()
            each(tokens.to(each.weight.device)).square().sum().backward()
            assert each.weight.grad.is_sparse
            made.step()
    same(copied.state_dict(), model.state_dict())


@pytest.mark.parametrize("name", ("Adam", "AdamW", "NAdam", "RAdam", "Adagrad"))
def test_options_that_change_the_arithmetic_work(name, problem, same):
    model, *batch = problem
    options = {"maximize": True, "weight_decay": 0.1} | ({"amsgrad": True} if name in ("Adam", "AdamW") else {})
    model, copied = twins(model)
    steps(model, make(name, model, "foreach", **options), *batch)
    steps(copied, make(name, copied, "foreach", **options), *batch)
    same(copied.state_dict(), model.state_dict())


@pytest.mark.parametrize(
    "name", [name for name in EAGER if "capturable" in inspect.signature(vars(torch.optim)[name]).parameters]
)
def test_a_step_count_on_the_device_changes_nothing(name, problem, same):
    """`capturable` keeps the number of steps on the device, which the CPU cannot be asked for."""
    model, *batch = problem
    model, copied = twins(model)
    made = make(name, copied, "foreach", capturable=True)
    steps(model, make(name, model, "foreach"), *batch)
    steps(copied, made, *batch)
    assert {state["step"].device.type for state in made.state.values()} == {DEVICE}
    # Powers of the step count are taken in float32 instead of Python's numbers.
    same(copied.state_dict(), model.state_dict(), rtol=1e-4, atol=1e-6)


def test_gradients_are_clipped_as_on_the_cpu(problem, same):
    model, inputs, targets = problem
    model, copied = twins(model)
    norms = []
    for each in (model, copied):
        device = each[0].weight.device
        nn.functional.mse_loss(each(inputs.to(device)), targets.to(device)).backward()
        norms.append(nn.utils.clip_grad_norm_(each.parameters(), 0.1, foreach=True))
    same(norms[1], norms[0])
    same([p.grad for p in copied.parameters()], [p.grad for p in model.parameters()])


@pytest.mark.parametrize("schedule", ("StepLR", "CosineAnnealingLR", "OneCycleLR", "ReduceLROnPlateau"))
def test_schedules_reach_the_rates_of_the_cpu(schedule, problem, same):
    model, *batch = problem
    options = {
        "StepLR": {"step_size": 1},
        "CosineAnnealingLR": {"T_max": 4},
        "OneCycleLR": {"max_lr": 0.1, "total_steps": 9},
    }
    model, copied = twins(model)
    rates = []
    for each in (model, copied):
        made = make("SGD", each, "foreach")
        planned = vars(torch.optim.lr_scheduler)[schedule](made, **options.get(schedule, {}))
        for _ in range(3):
            steps(each, made, *batch, count=1)
            planned.step(*([torch.ones((), device=each[0].weight.device)] if schedule == "ReduceLROnPlateau" else []))
            rates.append(made.param_groups[0]["lr"])
    assert rates[:3] == rates[3:]
    same(copied.state_dict(), model.state_dict())


def test_the_average_of_weights_is_that_of_the_cpu(problem, same):
    model, *batch = problem
    model, copied = twins(model)
    averages = []
    for each in (model, copied):
        average = torch.optim.swa_utils.AveragedModel(
            each, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9)
        )
        made = make("SGD", each, "foreach")
        for _ in range(3):
            steps(each, made, *batch, count=1)
            average.update_parameters(each)
        averages.append(average)
    same(averages[1].module.state_dict(), averages[0].module.state_dict())
    assert averages[1].n_averaged == 3
