"""Every optimizer of torch.optim, in each of its implementations, steps as on the CPU."""

import copy
import inspect
import io

import pytest
import torch

from .conftest import DEVICE, twins
from .optimizers import EAGER, IMPLEMENTATIONS, NAMES, accepts, make, regression, steps

CASES = [(name, how) for name in EAGER for how in IMPLEMENTATIONS if accepts(name, how)] + [
    (name, "only") for name in EAGER if not any(accepts(name, how) for how in IMPLEMENTATIONS)
]


@pytest.fixture
def problem():
    return regression()


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
