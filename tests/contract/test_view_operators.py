"""Every view operator that PyTorch's dispatcher lists shares memory on the device exactly where it does on the CPU."""

import re

import pytest
import torch

DEVICE = "flagos"

aten = torch.ops.aten

# Operators that need a dual level, another layout, or only change a data type; each has its own test elsewhere or is
# no view of a dense tensor at all.
ELSEWHERE = {
    "_fw_primal", "_make_dual", "_unpack_dual",  # forward mode: test_forward_mode.py
    "_nested_get_values", "_nested_view_from_buffer", "_nested_view_from_jagged",  # test_nested.py
    "_indices", "indices", "_values", "values", "coalesce", "_sparse_broadcast_to",  # test_sparse.py
    "ccol_indices", "col_indices", "crow_indices", "row_indices",  # test_sparse.py
    "_autocast_to_full_precision", "_autocast_to_reduced_precision",  # TorchScript's autocast: CUDA and CPU flags only
    "_test_autograd_multiple_dispatch_view",  # a kernel PyTorch has for its own tests
    "pin_memory",  # host memory: test_copies.py
}  # fmt: skip


def real():
    return torch.arange(24.0).view(2, 3, 4)


def wide():
    return torch.arange(64.0).view(4, 4, 4)


def matrix():
    return torch.arange(12.0).view(3, 4)


def complex_():
    return torch.complex(torch.arange(6.0), torch.arange(6.0) - 2).view(2, 3)


# operator -> (makes the base on the CPU, arguments after it); a callable argument is called with the base
SAMPLES = {
    "_conj": (complex_, []),
    "_neg_view": (real, []),
    "_reshape_alias": (real, [[24], [1]]),
    "adjoint": (complex_, []),
    "alias": (real, []),
    "as_strided": (real, [[2, 2], [1, 3], 1]),
    "broadcast_to": (matrix, [[2, 3, 4]]),
    "chunk": (real, [2, 2]),
    "conj": (complex_, []),
    "contiguous": (real, []),
    "detach": (real, []),
    "diagonal": (real, [0, 1, 2]),
    "dsplit.array": (wide, [[1, 3]]),
    "dsplit.int": (wide, [2]),
    "expand": (matrix, [[2, 3, 4]]),
    "expand_as": (matrix, [lambda x: x.new_empty(2, 3, 4)]),
    "flatten.using_ints": (real, [1]),
    "hsplit.array": (wide, [[1, 3]]),
    "hsplit.int": (wide, [2]),
    "imag": (complex_, []),
    "lift_fresh": (real, []),
    "linalg_diagonal": (matrix, []),
    "mH": (complex_, []),
    "mT": (real, []),
    "matrix_H": (complex_, []),
    "moveaxis.int": (real, [0, 2]),
    "moveaxis.intlist": (real, [[0, 1], [1, 2]]),
    "movedim.int": (real, [0, 2]),
    "movedim.intlist": (real, [[0, 1], [1, 2]]),
    "narrow": (real, [2, 1, 2]),
    "narrow.Tensor": (real, [2, torch.tensor(1), 2]),
    "numpy_T": (matrix, []),
    "permute": (real, [[2, 0, 1]]),
    "positive": (real, []),
    "ravel": (real, []),
    "real": (complex_, []),
    "reshape": (real, [[4, 6]]),
    "reshape_as": (real, [lambda x: x.new_empty(6, 4)]),
    "resolve_conj": (complex_, []),
    "resolve_neg": (real, []),
    "select.int": (real, [1, 2]),
    "slice.Tensor": (real, [1, 1, 3, 1]),
    "slice_inverse": (matrix, [lambda x: x.new_empty(5, 4), 0, 1, 4, 1]),
    "split.Tensor": (real, [2, 2]),
    "split.sizes": (real, [[1, 3], 2]),
    "split_with_sizes": (real, [[1, 3], 2]),
    "squeeze": (lambda: real()[:, :1], []),
    "squeeze.dim": (lambda: real()[:, :1], [1]),
    "squeeze.dims": (lambda: real()[:1, :1], [[0, 1]]),
    "swapaxes": (real, [0, 1]),
    "swapdims": (real, [0, 1]),
    "t": (matrix, []),
    "tensor_split.indices": (real, [[1, 2], 2]),
    "tensor_split.sections": (real, [3, 2]),
    "tensor_split.tensor_indices_or_sections": (real, [torch.tensor(2), 2]),
    "to.device": (real, [lambda x: x.device, torch.float32]),
    "to.dtype": (real, [torch.float32]),
    "to.dtype_layout": (real, []),
    "to.other": (real, [lambda x: x.new_empty(1)]),
    "transpose.int": (real, [0, 2]),
    "unbind.int": (real, [1]),
    "unflatten.int": (real, [2, [2, 2]]),
    "unfold": (real, [2, 2, 1]),
    "unsqueeze": (real, [1]),
    "view": (real, [[6, 4]]),
    "view.dtype": (real, [torch.int32]),
    "view_as": (real, [lambda x: x.new_empty(6, 4)]),
    "view_as_complex": (lambda: real().view(2, 3, 2, 2), []),
    "view_as_real": (complex_, []),
    "vsplit.array": (wide, [[1, 3]]),
    "vsplit.int": (wide, [2]),
}


def operators():
    """Names, without ``aten::``, of the operators whose schema says that a result aliases an argument."""
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        base, _, overload = name.removeprefix("aten::").partition(".")
        if not name.startswith("aten::"):
            continue
        schema = torch._C._get_schema(f"aten::{base}", overload)
        # An older PyTorch has dimensions with names, which it tried and gave up.
        named = re.search(r"\b(Dimname|str)\b", str(schema))
        if not named and any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns):
            yield f"{base}.{overload}" if overload else base


def test_every_view_operator_of_this_pytorch_is_tested():
    """A3: a PyTorch with a new view operator fails here until it has a sample."""
    missing = [name for name in operators() if name not in SAMPLES and name.partition(".")[0] not in ELSEWHERE]
    assert missing == []


def call(name, base):
    packet, _, overload = name.partition(".")
    arguments = [a(base) if callable(a) else a for a in SAMPLES[name][1]]
    result = getattr(getattr(aten, packet), overload or "default")(base, *arguments)
    return list(result) if isinstance(result, (list, tuple)) else [result]


def resolved(x):
    return x.resolve_conj().resolve_neg()


@pytest.mark.parametrize("layout", ["dense", "offset", "transposed"])
@pytest.mark.parametrize("name", [name for name in operators() if name in SAMPLES])
def test_aliasing_is_that_of_the_cpu(name, layout):
    """A3: unfold, view_as_real, _conj and every other view: same memory, same strides, writes seen both ways."""
    base = SAMPLES[name][0]()
    if layout == "offset":  # the same tensor in the middle of a larger storage
        base = torch.cat([base, base, base])[base.shape[0] : 2 * base.shape[0]]
    elif layout == "transposed" and base.dim() > 1:  # the same shape, other strides
        base = base.transpose(-2, -1).contiguous().transpose(-2, -1)
    with torch.no_grad():
        whole = torch.empty(base.untyped_storage().nbytes() // base.element_size(), dtype=base.dtype)
        whole.set_(base.untyped_storage(), 0, whole.shape)
        twin = whole.to(DEVICE).as_strided(base.shape, base.stride(), base.storage_offset())
    try:
        wanted = call(name, base)
    except RuntimeError:
        with pytest.raises(RuntimeError):  # a layout that has no such view
            call(name, twin)
        return
    found = call(name, twin)
    assert len(found) == len(wanted)
    for f, w in zip(found, wanted, strict=True):
        shares = w.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()
        assert (f.untyped_storage().data_ptr() == twin.untyped_storage().data_ptr()) == shares
        assert (f is twin) == (w is base) and f._is_view() == w._is_view()
        assert (f.shape, f.stride(), f.storage_offset(), f.dtype) == (w.shape, w.stride(), w.storage_offset(), w.dtype)
        assert (f.is_conj(), f.is_neg()) == (w.is_conj(), w.is_neg())
        assert torch.equal(resolved(f.cpu()), resolved(w))
    base.mul_(3)
    twin.mul_(3)
    for f, w in zip(found, wanted, strict=True):
        assert torch.equal(resolved(f.cpu()), resolved(w))
        index = (0,) * w.dim()
        f[index], w[index] = 7, 7
        assert torch.equal(twin.cpu(), base)
