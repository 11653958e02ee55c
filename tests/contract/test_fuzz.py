"""Random programs of a hundred operators do on the device what they do on the CPU: values, strides, aliases, refusals."""

import json
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from . import fuzz_programs
from .fuzz_operators import BINARY, UNARY
from .fuzz_programs import KEPT, STEPS, Different, run, shorten

cpu_rules = pytest.mark.capability("cpu_rules")
# The layout of nonzero's result, and the refusal of a complex median, depend on the kernel.
OTHERWISE = {("every_operator", 15), ("every_operator", 26)}

CORPUS = [
    pytest.param(program, id=f"{file.stem}-{number}", marks=cpu_rules if (file.stem, number) in OTHERWISE else ())
    for file in sorted((Path(__file__).parent / "corpus").glob("*.json"))
    for number, program in enumerate(json.loads(file.read_text()))
]

# The same programs in every run: what a long search finds is kept in the corpus instead.
FIXED = settings(derandomize=True, database=None, deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))


@st.composite
def programs(draw, grad):
    operand, number = st.integers(0, KEPT - 1), st.integers(-8, 8)
    step = st.tuples(st.sampled_from(STEPS), operand, operand, number, number)
    return {"seed": draw(st.integers(0, 99)), "grad": grad, "steps": draw(st.lists(step, min_size=1, max_size=20))}


@cpu_rules
@FIXED
@given(programs(grad=False))
def test_programs(program):
    run(program)


@FIXED
@given(programs(grad=True))
def test_programs_with_gradients(program):
    run(program)


@pytest.mark.parametrize("program", CORPUS)
def test_kept_programs(program):
    run(program)


@cpu_rules
def test_the_kept_programs_use_every_operator():
    ran = set().union(*(run(param.values[0]) for param in CORPUS))
    assert set(STEPS) <= ran
    assert len(STEPS) > 100


@pytest.mark.parametrize(
    "name, wrong",
    [
        ("sin", lambda x, p, q: (x + 1e-4 * (x.device.type == fuzz_programs.DEVICE)).sin()),
        ("transpose", lambda x, p, q: x.transpose(0, 1).clone() if x.device.type == "flagos" else x.transpose(0, 1)),
        ("view flat", lambda x, p, q: x.view(-1).clone() if x.device.type == "flagos" else x.view(-1)),
        ("sum", lambda x, p, q: x.sum(0, keepdim=x.device.type == "flagos")),
        ("neg_", lambda x, p, q: -x if x.device.type == "flagos" else x.neg_()),
        ("exp", lambda x, p, q: x.exp() if x.device.type == "flagos" else x.no_such_operator()),
        ("relu", lambda x, p, q: x.no_such_operator() if x.device.type == "flagos" else x.relu()),
    ],
)
def test_a_device_that_errs_is_noticed(monkeypatch, name, wrong):
    """Values, strides, copies for views, shapes, results for in-place operators, refusals: each fault is found and shortened."""
    monkeypatch.setitem(UNARY, name, wrong)
    program = {"seed": 0, "steps": [["add", 0, 2, 1, 1], [name, 0, 0, 0, 1], ["multiply", 0, 0, 1, 1]]}
    with pytest.raises(Different):
        run(program)
    assert shorten(program)["steps"] == [[name, 0, 0, 0, 1]]


def test_the_tables_hold_tensors_of_one_device():
    assert not set(UNARY) & set(BINARY) and torch.flagos.current_device() == 0
