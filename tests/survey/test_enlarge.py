"""Recorded calls that are brought to the size of models."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch_fl.survey import enlarge, recipe
from torch_fl.survey.calls import Call
from torch_fl.survey.enlarge import ELEMENTS, VOCABULARY, large


def t(*shape: int) -> torch.Tensor:
    return torch.rand(shape) + 1


def shapes(call: Call, most: int = ELEMENTS) -> list[list[int]]:
    found = large([call], most)
    assert found is not None and found.enlarged
    return [node["shape"] for node in recipe.tensors(found.tree)]


def test_rows_of_features() -> None:
    assert shapes(Call("abs", (t(17, 33),), {}, "")) == [[8192, 4096]]


def test_sizes_that_were_equal_stay_equal() -> None:
    assert shapes(Call("mm", (t(33, 40), t(40, 17)), {}, "")) == [[8192, 4096], [4096, 4096]]
    assert shapes(Call("add.Tensor", (t(17, 33), t(1, 33)), {}, "")) == [[8192, 4096], [1, 4096]]


def test_lists_of_sizes_grow_with_the_tensors() -> None:
    found = large([Call("native_layer_norm", (t(3, 5, 8), [8], t(8), t(8), 1e-5), {}, "")])
    assert found is not None and found.tree["args"][1] == [4096]
    assert [node["shape"] for node in recipe.tensors(found.tree)] == [[8, 1024, 4096], [4096], [4096]]


@pytest.mark.parametrize("key,place", [("embedding", 0), ("index_select", 0)])
def test_indices_reach_into_the_words_and_not_beyond(key: str, place: int) -> None:
    weight, index = t(9, 7), torch.arange(5)
    found = large([Call(key, (weight, index) if key == "embedding" else (weight, 0, index), {}, "")])
    assert found is not None
    data, indices = recipe.tensors(found.tree)
    assert data["shape"][place] == VOCABULARY and (indices["low"], indices["high"]) == (0, VOCABULARY - 1)


def test_classes_and_not_rows_are_what_a_target_counts() -> None:
    call = Call("nll_loss_forward", (t(2, 3), torch.zeros(2, dtype=torch.int64), t(3), 0, -100), {}, "")
    assert shapes(call) == [[8192, VOCABULARY], [8192], [VOCABULARY]]


def test_the_indices_of_a_derivative_stay_as_they_were() -> None:
    found = large([Call("embedding_backward", (t(4, 7), torch.arange(4), 5, -1, False, False), {}, "")])
    assert found is not None
    assert [node["high"] for node in recipe.tensors(found.tree) if node["tensor"] == "int64"] == [3]


def test_a_window_stays_what_it_is_while_the_image_grows() -> None:
    image, weight = shapes(Call("conv2d", (t(2, 4, 8, 9), t(5, 4, 3, 3), None), {"stride": [1, 1]}, ""))
    assert weight[2:] == [3, 3] and image[1] == weight[1] and image[2] >= 64


def test_products_that_grow_with_every_size_stay_within_the_memory() -> None:
    first, second = shapes(Call("outer", (t(5), t(10)), {}, ""))
    assert first[0] * second[0] + first[0] + second[0] <= ELEMENTS


@pytest.mark.parametrize("most", [1 << 16, 1 << 20])
def test_fewer_elements_may_be_asked_for(most: int) -> None:
    (rows, features), *_ = shapes(Call("abs", (t(17, 33),), {}, ""), most)
    assert most // 8 <= 2 * rows * features <= most


def test_factories_make_large_tensors() -> None:
    found = large([Call("zeros", ([3, 5],), {"dtype": torch.float32, "device": enlarge.CPU}, "")])
    assert found is not None and found.tree["args"] == [[8192, 4096]]


def test_what_cannot_grow_keeps_its_sizes_and_says_so() -> None:
    found = large([Call("view_as_real", (torch.ones(2, dtype=torch.complex64),), {}, "")])
    assert found is None
    found = large([Call("_assert_async", (torch.ones(()),), {}, "")])
    assert found is not None and not found.enlarged


def test_rows_worked_on_along_the_features_are_preferred() -> None:
    across, along = (Call("_softmax", (t(5, 7), dim, False), {}, "") for dim in (0, 1))
    best = min([across, Call("_softmax", (t(2, 3, 4, 5), 3, False), {}, ""), along], key=enlarge.preference)
    assert best is along


def test_small_sizes_of_the_trial_keep_the_order_of_the_large_ones() -> None:
    tree = recipe.of_call(Call("mm", (t(9, 3), t(3, 4)), {}, ""))
    small = enlarge.little({9: 8192, 3: 32000, 4: 4096}, tree)
    ordered = [small[size] for size in (4, 9, 3)]
    assert all(a < b for a, b in pairwise(ordered)) and ordered[0] > 9


def test_values_lie_where_the_recorded_ones_did() -> None:
    tree = recipe.of_call(Call("acosh", (t(3, 4),), {}, ""))
    (made,) = recipe.call("acosh", tree, enlarge.CPU).args
    assert made.shape == (3, 4) and made.min() >= 1 and made.max() <= 2


def test_a_call_comes_back_from_its_text() -> None:
    call = Call("sum.dim_IntList", (t(3, 4), [1], True), {"dtype": torch.float64}, "")
    again = recipe.call(call.key, recipe.of_call(call), enlarge.CPU)
    assert again.args[1:] == ([1], True) and again.kwargs == {"dtype": torch.float64}


@pytest.mark.parametrize("value", [torch.Generator(), object(), torch.ones(1, dtype=torch.complex64)])
def test_what_has_no_text_is_refused(value: object) -> None:
    with pytest.raises(recipe.Unwritten):
        recipe.written(value)
