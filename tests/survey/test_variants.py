"""Other forms of a call."""

from __future__ import annotations

import pytest
import torch
from torch_fl.survey import operators, siblings, variants
from torch_fl.survey.calls import Call, fitted
from torch_fl.survey.generated import made
from torch_fl.survey.sources import spread

ADD = Call("add.Tensor", (torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)), {}, "made")


def forms(call: Call) -> dict[str, Call]:
    return dict(variants.of(call))


@pytest.mark.parametrize("name", ["gaps", "column-major", "offset"])
def test_a_layout_keeps_the_values(name: str) -> None:
    other = forms(ADD)[name]
    assert torch.equal(other.args[0], ADD.args[0])
    assert other.args[0].stride() != ADD.args[0].stride() or other.args[0].storage_offset() == 1


def test_expanded_rows_share_their_memory() -> None:
    assert [call.args[0].stride(0) for name, call in variants.of(ADD) if name == "expanded"] == [0, 0]


def test_a_broadcast_tensor_has_as_many_dimensions_and_no_gaps() -> None:
    seconds = [call.args[1] for name, call in variants.of(ADD) if name == "broadcast"]
    assert [tuple(t.shape) for t in seconds] == [(2, 1), (1, 3)] and all(t.is_contiguous() for t in seconds)
    assert "broadcast" not in forms(Call("mm", (torch.ones(3, 3), torch.ones(3, 3)), {}, "made"))


def test_nobody_writes_to_an_expanded_tensor() -> None:
    call = Call("add_.Tensor", ADD.args, {}, "made")
    assert "expanded" not in forms(call)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_edge_values_of_floats(dtype: torch.dtype) -> None:
    values = variants.extreme(torch.zeros(24, dtype=dtype))
    assert values.isnan().any() and values.isinf().any() and (values.signbit() & (values == 0)).any()
    assert (values == torch.finfo(dtype).max).any() and ((values > 0) & (values < torch.finfo(dtype).tiny)).any()


def test_edge_values_of_integers() -> None:
    assert variants.extreme(torch.zeros(9, dtype=torch.int64))[:2].tolist() == [-(2**63), 2**63 - 1]


def test_the_source_is_never_changed() -> None:
    before = ADD.args[0].clone()
    list(variants.of(ADD)), list(variants.mixed(ADD)), list(variants.far(ADD))
    assert torch.equal(ADD.args[0], before) and ADD.args[0].is_contiguous()


def test_mixed_dtypes_and_numbers_stand_in_the_second_place() -> None:
    found = [call.args[1] for _, call in variants.mixed(ADD)]
    assert [value.dtype for value in found if isinstance(value, torch.Tensor)] == [
        torch.int64,
        torch.float16,
        torch.bool,
    ]
    assert [value for value in found if not isinstance(value, torch.Tensor)] == [2, 2.5]


def test_out_variants_are_made_of_the_functional_form() -> None:
    assert operators.functional("mm.out") == "mm" and operators.functional("add_.Tensor") == "add.Tensor"
    call = siblings.fit("mm.out", Call("mm", (torch.ones(2, 3), torch.ones(3, 4)), {}, "made"))
    assert call is not None and call.kwargs["out"].shape == (2, 4)
    assert [name for name, _ in variants.outputs(call)] == ["out with gaps", "out to resize"]


def test_a_number_is_made_of_a_tensor_where_the_overload_wants_one() -> None:
    call = siblings.fit("div.Scalar", Call("div.Tensor", (torch.ones(3), torch.full((3,), 4.0)), {}, "made"))
    assert call is not None and call.args[1] == 4.0


def test_options_that_the_overload_does_not_have_are_left_out_when_they_are_off() -> None:
    args, kwargs = fitted("relu6", (torch.ones(2),), {"inplace": False})
    assert len(args) == 1 and kwargs == {}
    assert fitted("relu6", (torch.ones(2),), {"inplace": True}) is None


def test_calls_of_other_forms_come_first() -> None:
    same = [Call("abs", (torch.ones(2, 3),), {}, "made") for _ in range(4)]
    flat = Call("abs", (torch.ones(5),), {}, "made")
    assert [call.args[0].dim() for call in spread([*same, flat], 3)] == [2, 1]


def test_the_dtype_of_a_call_is_that_of_its_data() -> None:
    mask, data = torch.ones(2, dtype=torch.bool), torch.ones(2)
    assert Call("where.self", (mask, data, data), {}, "").dtype == "float32"
    assert Call("zeros", ([2],), {"dtype": torch.int64}, "").dtype == "int64"
    assert Call("embedding", (data, torch.zeros(2, dtype=torch.int64)), {}, "").signature == ("float32", "int64")


def test_only_a_pointwise_operator_is_given_shapes_that_do_not_fit() -> None:
    made = (
        Call("tanh_backward", ADD.args, {}, "made"),
        Call("_log_softmax_backward_data", (*ADD.args, 1, torch.float32), {}, ""),
    )
    one, other = (
        {tuple(t.shape for t in c.tensors) for name, c in variants.of(call) if name == "empty"} for call in made
    )
    assert {((0, 3), (0, 3))} == other and other <= one


def test_factories_are_called_without_a_dtype_too() -> None:
    calls = made("arange", torch.float32)
    assert any("dtype" not in call.kwargs and isinstance(call.args[0], float) for call in calls)
    assert all(call.dtype == "float32" and call.signature == ("float32",) for call in calls)
    assert spread(calls, 1) == calls
