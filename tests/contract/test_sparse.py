"""Sparse tensors: COO and the compressed layouts do on the device what they do on the CPU."""

import copy
import io
import pickle

import pytest
import torch
from torch import nn

DEVICE = "flagos"

pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse"),
    pytest.mark.filterwarnings("ignore:.*beta state"),
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated"),
]

COMPRESSED = [torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc]
LAYOUTS = [torch.sparse_coo, *COMPRESSED]


def dense(dtype=torch.float32):
    x = torch.tensor([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 4, 0], [0, 0, 0, 5]])
    return x.to(dtype)


def sparse(layout, device, dtype=torch.float32):
    block = (2, 2) if layout in (torch.sparse_bsr, torch.sparse_bsc) else None
    return dense(dtype).to(device).to_sparse(layout=layout, blocksize=block)


def parts(s):
    """The dense members, by name."""
    if s.layout == torch.sparse_coo:
        s = s.coalesce()
        return {"indices": s.indices(), "values": s.values()}
    names = ("crow_indices", "col_indices") if s.layout in (torch.sparse_csr, torch.sparse_bsr) else ("ccol_indices", "row_indices")
    return {n: getattr(s, n)() for n in (*names, "values")}


def same(found, wanted):
    assert found.layout == wanted.layout and found.shape == wanted.shape and found.dtype == wanted.dtype
    assert found.device.type == DEVICE
    if wanted.layout == torch.strided:
        torch.testing.assert_close(found.cpu(), wanted)
        return
    for name, member in parts(wanted).items():
        assert parts(found)[name].device.type == DEVICE
        torch.testing.assert_close(parts(found)[name].cpu(), member)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64, torch.int64])
def test_making_and_moving(layout, dtype):
    wanted = sparse(layout, "cpu", dtype)
    for found in (
        sparse(layout, DEVICE, dtype),
        wanted.to(DEVICE),
        wanted.to(DEVICE).clone(),
        copy.deepcopy(wanted.to(DEVICE)),
        wanted.flagos(),
    ):
        same(found, wanted)
    back = wanted.to(DEVICE).cpu()
    assert back.device.type == "cpu" and torch.equal(back.to_dense(), dense(dtype))
    same(wanted.to(DEVICE).to_dense(), dense(dtype))
    same(wanted.to(DEVICE).to(torch.complex128), wanted.to(torch.complex128))


@pytest.mark.devices(2)
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_between_devices(layout):
    x = sparse(layout, "flagos:0").to("flagos:1")
    assert x.device.index == 1 and all(p.device.index == 1 for p in parts(x).values())
    assert torch.equal(x.to_dense().cpu(), dense())


def test_from_members():
    i, v = torch.tensor([[0, 1, 1], [2, 0, 0]]), torch.tensor([3.0, 4, 5])
    x = torch.sparse_coo_tensor(i.to(DEVICE), v.to(DEVICE), (2, 3))
    assert not x.is_coalesced() and x._nnz() == 3 and x.sparse_dim() == 2
    same(x, torch.sparse_coo_tensor(i, v, (2, 3)))
    assert x.coalesce()._nnz() == 2 and x.coalesce().is_coalesced()
    assert torch.sparse_coo_tensor(i.tolist(), v.tolist(), (2, 3), device=DEVICE).device.type == DEVICE
    y = torch.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0], size=(2, 2), device=DEVICE)
    assert y.to_dense().tolist() == [[1, 0], [0, 2]]
    hybrid = torch.sparse_coo_tensor(torch.tensor([[0, 2]], device=DEVICE), torch.ones(2, 4, device=DEVICE), (3, 4))
    assert hybrid.dense_dim() == 1 and hybrid.to_dense()[2].tolist() == [1] * 4
    with pytest.raises(RuntimeError, match="device"):
        torch.sparse_coo_tensor(i, v.to(DEVICE), (2, 3))
    assert torch.zeros(2, 2, layout=torch.sparse_coo, device=DEVICE)._nnz() == 0


OPERATORS = {
    "times a matrix": lambda s, x: s @ x,
    "sparse.mm": lambda s, x: torch.sparse.mm(s, x),
    "times a vector": lambda s, x: s @ x[:, 0],
    "addmm": lambda s, x: torch.sparse.addmm(x, s, x),
    "times a number": lambda s, x: s * 2,
    "times a fraction": lambda s, x: s * 0.5,
    "negated": lambda s, x: -s,
    "transposed": lambda s, x: s.t() @ x,
    "plus itself": lambda s, x: s + s,
    "dense plus sparse": lambda s, x: x + s,
    "abs": lambda s, x: s.abs(),
    "relu": lambda s, x: torch.relu(s),
    "sum": lambda s, x: s.sum(),
    "to COO": lambda s, x: s.to_sparse() if s.layout != torch.sparse_coo else s,
    "to CSR": lambda s, x: s.to_sparse_csr(),
}


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr], ids=str)
@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name, layout):
    x = torch.arange(16.0).view(4, 4)
    wanted = OPERATORS[name](sparse(layout, "cpu"), x)
    same(OPERATORS[name](sparse(layout, DEVICE), x.to(DEVICE)), wanted)


COO_ONLY = {
    "sparse times sparse": lambda s: torch.sparse.mm(s, s),
    "element by element": lambda s: s * s,
    "softmax": lambda s: torch.sparse.softmax(s, 1),
    "log_softmax": lambda s: torch.sparse.log_softmax(s, 0),
    "sum over a dimension": lambda s: torch.sparse.sum(s, 0),
    "index_select": lambda s: s.index_select(0, torch.tensor([2, 0], device=s.device)),
    "select": lambda s: s[2],
    "cat": lambda s: torch.cat([s, s]),
    "stack": lambda s: torch.stack([s, s]),
    "mask of a dense tensor": lambda s: torch.ones(4, 4, device=s.device).sparse_mask(s.coalesce()),
    "in place": lambda s: s.clone().mul_(3),
    "add in place": lambda s: s.clone().add_(s),
    "zero in place": lambda s: s.clone().zero_(),
    "copy_": lambda s: torch.zeros(4, 4, layout=torch.sparse_coo, device=s.device).copy_(s),
    "transpose": lambda s: s.transpose(0, 1),
    "unsqueeze": lambda s: s.unsqueeze(0),
    "pow": lambda s: s.pow(2),
    "sqrt": lambda s: s.sqrt(),
    "isnan": lambda s: s.isnan(),
    "any": lambda s: s.any(),
    "norm": lambda s: s.norm(),
    "narrow_copy": lambda s: s.narrow_copy(0, 1, 2),
    "zeros_like": torch.zeros_like,
}


@pytest.mark.parametrize("name", COO_ONLY)
def test_operators_of_coo(name):
    same(COO_ONLY[name](sparse(torch.sparse_coo, DEVICE)), COO_ONLY[name](sparse(torch.sparse_coo, "cpu")))


def test_members_are_views():
    s = sparse(torch.sparse_coo, DEVICE).coalesce()
    s.values().mul_(2)
    assert torch.equal(s.to_dense().cpu(), dense() * 2)
    c = sparse(torch.sparse_csr, DEVICE)
    c.values().fill_(1)
    assert torch.equal(c.to_dense().cpu(), (dense() != 0).float())


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_saved_and_printed(layout):
    x = sparse(layout, DEVICE)
    buffer = io.BytesIO()
    torch.save({"x": x}, buffer)
    for options in ({}, {"map_location": "cpu"}, {"weights_only": False}):
        back = torch.load(io.BytesIO(buffer.getvalue()), **options)["x"]
        assert back.layout == layout and torch.equal(back.to_dense().cpu(), dense())
        assert back.device.type == ("cpu" if options.get("map_location") else DEVICE)
    assert torch.equal(pickle.loads(pickle.dumps(x)).to_dense().cpu(), dense())
    assert "device='flagos:0'" in repr(x) and str(layout) in repr(x)


@pytest.mark.parametrize("optimizer", [torch.optim.SparseAdam, torch.optim.SGD, torch.optim.Adagrad])
@pytest.mark.parametrize("kind", [nn.Embedding, nn.EmbeddingBag])
def test_sparse_gradients_train_an_embedding(kind, optimizer):
    results = []
    for device in ("cpu", DEVICE):
        torch.manual_seed(0)
        layer = kind(8, 3, sparse=True).to(device)
        o = optimizer(layer.parameters(), lr=0.1)
        for _ in range(3):
            o.zero_grad()
            layer(torch.tensor([[1, 2], [2, 5]], device=device)).square().sum().backward()
            assert layer.weight.grad.layout == torch.sparse_coo and layer.weight.grad.device.type == device
            o.step()
        results.append(layer.weight.detach().cpu())
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr], ids=str)
def test_gradients_of_a_product(layout):
    grads = []
    for device in ("cpu", DEVICE):
        s = sparse(layout, device).requires_grad_()
        x = torch.arange(12.0, device=device).view(4, 3).requires_grad_()
        torch.sparse.mm(s, x).square().sum().backward()
        grads.append((s.grad.to_dense().cpu(), x.grad.cpu()))
    for w, f in zip(*grads, strict=True):
        torch.testing.assert_close(f, w)


def test_gradients_accumulate_and_clip():
    grads = []
    for device in ("cpu", DEVICE):
        layer = nn.Embedding(6, 2, sparse=True).to(device)
        with torch.no_grad():
            layer.weight.fill_(1)
        for index in ([0, 1], [1, 5]):
            layer(torch.tensor(index, device=device)).sum().backward()
        grads.append(layer.weight.grad.to_dense().cpu())
    assert torch.equal(*grads)


def test_on_a_side_stream():
    s = torch.flagos.Stream()
    with torch.flagos.stream(s):
        x = torch.ones(300, 300, device=DEVICE)
        for _ in range(5):
            x = x @ x / 300
        y = torch.eye(300, device=DEVICE).to_sparse() @ x
    s.synchronize()
    torch.testing.assert_close(y.cpu(), torch.ones(300, 300))


def test_mixed_devices_are_refused():
    with pytest.raises(RuntimeError, match="device|flagos"):
        sparse(torch.sparse_coo, DEVICE) @ torch.ones(4, 4)
    with pytest.raises(RuntimeError, match="device|flagos"):
        sparse(torch.sparse_csr, "cpu") @ torch.ones(4, 4, device=DEVICE)
