"""What goes with optimizers: line searches, sparse gradients, clipping, schedules, averages of weights."""

import pytest
import torch
from torch import nn

from .conftest import twins
from .optimizers import make, regression, steps


@pytest.fixture
def problem():
    return regression()


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
