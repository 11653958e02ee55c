"""Operators that write into lists of tensors, alone or beside a tensor: all of them are written, in place."""

import pytest
import torch

DEVICE = "flagos"

SHAPES = [(3,), (2, 2), (0,), ()]

# Operators for other vendors' libraries or for quantized tensors, which this device does not have.
FOREIGN = ("_cudnn", "miopen", "lstm_mps", "dequantize", "quantize")

NUMBERS = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.01, "eps": 1e-8, "momentum": 0.9, "dampening": 0.0,
           "lr_decay": 0.01, "p": 2.0, "alpha": 2.0, "value": 0.5, "weight": 0.25, "scalar": 0.5, "ord": 2}  # fmt: skip
REDUCTIONS = ("_foreach_norm", "_foreach_powsum", "_foreach_max")
FLAGS = {"amsgrad": True, "maximize": False, "nesterov": True, "is_first_step": False}


def operators():
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        base, _, overload = name.removeprefix("aten::").partition(".")
        if not name.startswith("aten::") or base.startswith(FOREIGN):
            continue
        schema = torch._C._get_schema(f"aten::{base}", overload)
        if any(_written(a) and "List" in str(a.type) for a in schema.arguments):
            yield f"{base}.{overload or 'default'}"


def _written(argument):
    return argument.alias_info is not None and argument.alias_info.is_write


def numbers(seed, device, shapes=SHAPES):
    """One tensor for each shape, with values of both signs."""
    g = torch.Generator().manual_seed(seed)
    return [(torch.rand(shape, generator=g) * 3 - 1).to(device) for shape in shapes]


def written_by(schema, device, found_inf=0.0):
    """Arguments for a call, made alike on every device."""
    arguments = {}
    for seed, argument in enumerate(schema.arguments):
        kind, name = str(argument.type), argument.name
        if kind == "List[Tensor]":
            shapes = [s for s in SHAPES if s != (0,)] if schema.name.endswith("_foreach_max") else SHAPES
            scalars = name == "out" and schema.name.endswith(REDUCTIONS)
            arguments[name] = numbers(seed, device, [()] * len(shapes) if scalars else shapes)
            if name not in ("self", "out"):
                arguments[name] = [t.abs() + 0.1 for t in arguments[name]]
            if name == "state_steps":
                arguments[name] = [torch.tensor(2.0, device=device) for _ in SHAPES]
        elif kind == "Tensor":
            scalar = name in ("lr", "found_inf", "inv_scale", "other", "grad_scale")
            value = {"found_inf": found_inf, "inv_scale": 2.0}.get(name, 0.5)
            # A list of factors as a tensor lies on the CPU, as CUDA demands.
            arguments[name] = torch.tensor(value, device=device) if scalar else torch.tensor([0.25] * len(SHAPES))
        elif kind == "Optional[Tensor]" and name in ("grad_scale", "found_inf"):
            arguments[name] = torch.tensor(2.0 if name == "grad_scale" else found_inf, device=device)
        elif kind in ("List[number]", "List[Scalar]"):
            arguments[name] = [0.5] * len(SHAPES)
        elif kind == "bool":
            arguments[name] = FLAGS.get(name, False)
        elif name in NUMBERS:
            arguments[name] = NUMBERS[name]
        elif not argument.has_default_value():
            arguments[name] = 0.5
    return arguments


OWN = {  # operators whose lists are pieces of one tensor
    "split_copy.Tensor_out": (lambda x: (x, 2, 0), 2),
    "split_with_sizes_copy.out": (lambda x: (x, [2, 2], 0), 2),
    "unsafe_split.Tensor_out": (lambda x: (x, 2, 0), 2),
    "unsafe_split_with_sizes.out": (lambda x: (x, [2, 2], 0), 2),
    "unbind_copy.int_out": (lambda x: (x, 0), 4),
}
OTHERS = {"_histogramdd_bin_edges.out"} | OWN.keys()


def marked(name):
    """What CUDA's kernel does with a scale of the gradients is not what the CPU's does."""
    return pytest.param(name, marks=pytest.mark.capability("cpu_rules")) if name.startswith("_fused_adagrad_") else name


def overload_of(name):
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload)


def flat(arguments):
    return [t for a in arguments.values() for t in (a if isinstance(a, list) else [a]) if isinstance(t, torch.Tensor)]


@pytest.mark.parametrize("found_inf", [0.0, 1.0])
@pytest.mark.parametrize("name", [marked(name) for name in operators() if name not in OTHERS])
def test_every_list_is_written_in_place(name, found_inf):
    """A5: _foreach_*, _fused_*, _amp_foreach_*: the lists, and the tensors beside them, hold what the CPU's hold."""
    op = overload_of(name)
    inf = {a.name for a in op._schema.arguments} & {"found_inf"}
    if found_inf and not inf:
        return
    here, there = written_by(op._schema, "cpu", found_inf), written_by(op._schema, DEVICE, found_inf)
    before = [t.clone() for t in flat(here)]
    addresses = [t.data_ptr() for t in flat(there)]
    versions = [[t._version for t in flat(a)] for a in (here, there)]
    op(**here)
    op(**there)
    moved = [
        [t._version > v for t, v in zip(flat(a), old, strict=True)]
        for a, old in zip((here, there), versions, strict=True)
    ]
    missed = [i for i, (wanted, found) in enumerate(zip(*moved, strict=True)) if wanted and not found]
    assert missed == [], "autograd would not see that a saved tensor has changed"
    for found, wanted in zip(flat(there), flat(here), strict=True):
        torch.testing.assert_close(found.cpu(), wanted, rtol=1e-6, atol=1e-6, equal_nan=True)
    assert [t.data_ptr() for t in flat(there)] == addresses
    changed = any(not torch.equal(a, b) for a, b in zip(flat(here), before, strict=True))
    assert changed or found_inf, "a sample that changes nothing proves nothing"


def test_both_kinds_of_argument_are_written_when_a_gradient_is_infinite():
    """A5: the list of gradients and the flag beside it."""
    grads = [torch.ones(2, device=DEVICE), torch.tensor([1.0, float("inf")], device=DEVICE)]
    found = torch.zeros((), device=DEVICE)
    torch._amp_foreach_non_finite_check_and_unscale_(grads, found, torch.tensor(0.5, device=DEVICE))
    assert found.item() == 1 and grads[0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("name", OWN)
def test_pieces_of_one_tensor_are_written(name):
    """A5: out= lists of the splitting operators."""
    make, count = OWN[name]
    shape = (2,) if count == 2 else ()
    out = [torch.zeros(shape, device=DEVICE) for _ in range(count)]
    addresses = [t.data_ptr() for t in out]
    overload_of(name)(*make(torch.arange(4.0, device=DEVICE)), out=out)
    assert torch.cat([t.reshape(-1) for t in out]).tolist() == [0, 1, 2, 3]
    assert [t.data_ptr() for t in out] == addresses


def test_lists_that_share_memory_are_written_once():
    """A5: two entries of a list that are views of one tensor."""
    for device in ("cpu", DEVICE):
        x = torch.ones(4, device=device)
        torch._foreach_add_([x[:2], x[2:]], 1.5)
        torch._foreach_mul_([x[::2], x[1::2].view(2, 1)], [2.0, 3.0])
        assert x.tolist() == [5, 7.5, 5, 7.5]


def test_an_expanded_entry_is_refused_as_on_the_cpu():
    """A5: an entry whose elements share one place."""
    for device in ("cpu", DEVICE):
        with pytest.raises(RuntimeError, match="single memory location"):
            torch._foreach_add_([torch.ones(1, device=device).expand(3)], 1)
