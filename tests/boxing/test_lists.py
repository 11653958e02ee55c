"""Operators on lists of tensors, which optimizers and gradient clipping are made of."""

import pytest
import torch

from .conftest import DEVICE


def lists(device, count=2):
    """``count`` lists of float32 tensors on ``device``: a matrix, a transposed one, a vector, a number, an empty one."""
    shapes = ((3, 4), (4, 3), (5,), (), (0,))
    made = [[torch.rand(shape) + 0.5 for shape in shapes] for _ in range(count)]
    for one in made:
        one[1] = one[1].t()
    return [[tensor.to(device) for tensor in one] for one in made]


OPERATORS = {
    "_foreach_add.Scalar": lambda a, b: torch._foreach_add(a, 2.0),
    "_foreach_add.List": lambda a, b: torch._foreach_add(a, b, alpha=0.5),
    "_foreach_mul.ScalarList": lambda a, b: torch._foreach_mul(a, [1.0, 2.0, 3.0, 4.0, 5.0]),
    "_foreach_mul.Tensor": lambda a, b: torch._foreach_mul(a, a[3] * 0 + 3),
    "_foreach_addcdiv.Scalar": lambda a, b: torch._foreach_addcdiv(a, b, b, 0.1),
    "_foreach_lerp.Scalar": lambda a, b: torch._foreach_lerp(a, b, 0.3),
    "_foreach_sqrt": lambda a, b: torch._foreach_sqrt(a),
    "_foreach_maximum.List": lambda a, b: torch._foreach_maximum(a, b),
    "_foreach_norm.Scalar": lambda a, b: torch._foreach_norm(a, 2),
    "_foreach_max": lambda a, b: torch._foreach_max(a[:4]),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_results_are_those_of_the_targets_kernel(name, native, boxed):
    torch.manual_seed(1)
    ours = OPERATORS[name](*lists(DEVICE))
    boxed(name)
    torch.manual_seed(1)
    theirs = OPERATORS[name](*lists(native))
    assert [tensor.device.type for tensor in ours] == [DEVICE] * len(ours)
    for mine, reference in zip(ours, theirs, strict=True):
        assert mine.untyped_storage().device.type == DEVICE
        torch.testing.assert_close(mine.cpu(), reference.cpu(), rtol=0, atol=0)


WRITERS = {
    "_foreach_add_.Scalar": lambda a, b: torch._foreach_add_(a, 2.0),
    "_foreach_lerp_.Scalar": lambda a, b: torch._foreach_lerp_(a, b, 0.3),
    "_foreach_lerp_.ScalarList": lambda a, b: torch._foreach_lerp_(a, b, [0.1, 0.2, 0.3, 0.4, 0.5]),
    "_foreach_zero_": lambda a, b: torch._foreach_zero_(a),
    "_foreach_copy_": lambda a, b: torch._foreach_copy_(a, b),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_write_is_counted_once(name, boxed):
    """Else autograd would take a saved tensor that has been written for an unchanged one."""
    a, b = lists(DEVICE)
    before = [(tensor._version, other._version) for tensor, other in zip(a, b, strict=True)]
    WRITERS[name](a, b)
    boxed(name)
    assert [(tensor._version, other._version) for tensor, other in zip(a, b, strict=True)] == [(w + 1, r) for w, r in before]


def test_fused_steps_count_every_list_that_they_write(boxed):
    parameters, gradients = lists(DEVICE)
    averages, squares, _ = lists(DEVICE, 3)
    steps = [torch.ones((), device=DEVICE) for _ in parameters]
    before = [tensor._version for tensor in (*parameters, *averages, *squares)]
    torch._fused_adam_(
        *(parameters, gradients, averages, squares, [], steps),
        **{"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0, "eps": 1e-8, "amsgrad": False, "maximize": False},
    )
    boxed("_fused_adam_")
    after = [tensor._version for tensor in (*parameters, *averages, *squares)]
    assert all(now > was for now, was in zip(after, before, strict=True))


def test_mixed_devices_in_lists_are_refused():
    a, _ = lists(DEVICE)
    with pytest.raises(RuntimeError, match="same device"):
        torch._foreach_mul(a, lists("cpu")[0])
