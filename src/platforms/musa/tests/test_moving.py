"""Copies and conversions, constants, indexing, sorting."""

import pytest
import torch

DEVICE = "flagos"
ALL = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]


@pytest.mark.parametrize("target", ALL, ids=str)
@pytest.mark.parametrize("source", [torch.float32, torch.int64, torch.bool], ids=str)
def test_conversions(native, source, target):
    x = torch.tensor([[0, 1, 5], [3, 2, 0]]).to(source)
    if source != target:
        native("_copy_from", lambda t: t.to(target), x)


def test_strided_copies_take_one_pass(native):
    x = torch.randn(4, 5, 6)
    native("_copy_from", lambda t: t.permute(2, 0, 1).contiguous(), x)
    native("_copy_from", lambda t: t[::2, :, 1::3].clone(memory_format=torch.contiguous_format), x)
    native("_copy_from", lambda t: t[:, :1].expand(4, 5, 6).contiguous(), x)
    native("_copy_from", lambda t: torch.zeros(6, 5, 4, dtype=torch.float64, device=t.device).copy_(t.transpose(0, 2)), x)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_constants(native, dtype):
    native("fill_.Scalar", lambda t: t.clone().fill_(3), torch.zeros(3, 4, dtype=dtype))
    native("zero_", lambda t: t.clone()[:, ::2].zero_(), torch.ones(3, 4, dtype=dtype))


def test_masked_fill(native):
    mask = torch.rand(4, 1) > 0.5
    native("masked_fill_.Scalar", lambda t, m: t.clone().masked_fill_(m, -1.5), torch.randn(4, 5), mask)
    native("masked_fill_.Scalar", lambda t, m: t.t().clone().t().masked_fill_(m, 7), torch.arange(20).view(4, 5), mask)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cat_and_stack(native, dim):
    parts = [torch.randn(2, 3, 4), torch.randn(2, 3, 4).transpose(0, 0)]
    native("cat", lambda a, b: torch.cat([a, b], dim), *parts)
    native("cat", lambda a, b: torch.stack([a, b], dim), *parts)
    native("cat", lambda a, b: torch.cat([a, b.double(), a.new_empty(0)], dim), *parts)


def test_indices_choose(native):
    x = torch.randn(5, 6)
    native("index_select", torch.index_select, x, 1, torch.tensor([3, 0, 3]))
    native("gather", torch.gather, x, 1, torch.randint(0, 6, (5, 3)))
    native("gather", torch.gather, x.t(), 0, torch.randint(0, 6, (3, 5)))


def test_indices_write(native):
    x, index, source = torch.randn(5, 6), torch.tensor([[0, 4, 2, 2, 1, 3], [1, 1, 0, 3, 4, 2]]), torch.randn(3, 6)
    native("scatter_add", torch.scatter_add, x, 0, index, source)
    native("scatter.value", torch.scatter, x, 0, index, 2.5)
    native("scatter.src", torch.scatter, x, 1, torch.tensor([[0], [3], [5], [1], [2]]), torch.randn(5, 6))
    native("index_add", torch.index_add, x, 0, torch.tensor([1, 1, 4]), source)


def test_embedding_and_its_gradient(native):
    def both(weight, index):
        weight = weight.detach().requires_grad_()
        y = torch.nn.functional.embedding(index, weight, padding_idx=2)
        y.pow(2).sum().backward()
        return [y, weight.grad]

    arguments = torch.randn(7, 4), torch.tensor([[0, 2, 6], [6, 6, 1]])
    native("index_select", both, *arguments)
    native("embedding_dense_backward", both, *arguments)


@pytest.mark.parametrize("descending", [False, True])
def test_sort_and_topk(native, descending):
    x = torch.randperm(60).view(3, 4, 5).float()
    native("sort.stable", lambda t: tuple(torch.sort(t, 1, descending)), x)
    native("topk", lambda t: tuple(torch.topk(t, 2, 2, largest=descending)), x)
    native("sort.stable", lambda t: tuple(torch.sort(t, stable=True)), torch.tensor([2, 1, 2, 1, 0]))


def test_copies_between_devices_and_of_lazy_bits_are_right():
    x = torch.randn(3, 4)
    assert torch.equal(x.to("flagos:0").to("flagos:1").cpu(), x)
    z = torch.randn(3, dtype=torch.complex64)
    assert torch.equal(z.to(DEVICE).conj().clone().cpu(), z.conj().clone())


def test_kernels_work_on_the_tensors_device(backends):
    x = torch.randn(4, 4, device="flagos:1")
    assert torch.flagos.current_device() == 0
    torch.testing.assert_close((x @ x + x).sum(0).cpu(), (x.cpu() @ x.cpu() + x.cpu()).sum(0))
    assert backends("mm") == {"musa"}


def test_kernels_run_on_the_current_stream():
    stream = torch.flagos.Stream()
    with torch.flagos.stream(stream):
        x = torch.full((256, 256), 2.0, device=DEVICE)
        y = (x @ x).sum(1)
    stream.synchronize()
    assert torch.equal(y.cpu(), torch.full((256,), 4.0 * 256 * 256))


@pytest.mark.parametrize("name", ["index_select", "gather", "scatter_add", "index_add", "embedding"])
def test_an_index_out_of_range_is_an_error_and_leaves_the_device_alive(name):
    x, bad = torch.ones(3, 4, device=DEVICE), torch.tensor([0, 3, 9], device=DEVICE)
    square = bad.view(3, 1).expand(3, 4)
    calls = {
        "index_select": lambda: torch.index_select(x, 0, bad),
        "gather": lambda: torch.gather(x, 0, square),
        "scatter_add": lambda: torch.scatter_add(x, 0, square, x),
        "index_add": lambda: torch.index_add(x, 0, bad, x),
        "embedding": lambda: torch.nn.functional.embedding(bad, x),
    }
    with pytest.raises((IndexError, RuntimeError), match="index|range|bounds"):
        calls[name]()
    assert torch.equal(x.cpu(), torch.ones(3, 4))


def test_what_is_written_may_not_overlap_itself():
    one = torch.ones(1, 3, device=DEVICE).expand(3, 3)
    rows, chosen = torch.ones(3, 3, device=DEVICE), torch.tensor([0, 1, 2], device=DEVICE)
    for write in (
        lambda: one.cumsum_(0),
        lambda: one.cumprod_(0),
        lambda: one.addmm_(one, one),
        lambda: torch.index_select(rows, 0, chosen, out=one),
    ):
        with pytest.raises(RuntimeError, match="single memory location"):
            write()
    with pytest.warns(UserWarning, match="expanded tensors is deprecated"):
        one.masked_fill_(torch.tensor([True, False, False], device=DEVICE), 7)
    assert one[2].tolist() == [7, 1, 1]


@pytest.mark.parametrize("name", ["addmv_", "baddbmm_"])
def test_products_into_an_expanded_tensor_are_as_on_the_cpu(name):
    """There PyTorch checks nothing: the mudnn kernel declines, and the CPU's does what it does."""
    matrices = torch.randn(2, 3, 3)
    factors = (matrices, matrices) if name == "baddbmm_" else (matrices[0], matrices[1, 0])
    sizes = (2, 3, 3) if name == "baddbmm_" else (3,)

    def result(device):
        target = torch.ones(1, device=device).expand(sizes)
        return getattr(target, name)(*(factor.to(device) for factor in factors)).cpu()

    torch.testing.assert_close(result(DEVICE), result("cpu"))


def test_an_index_into_nothing_is_refused():
    x, index = torch.empty(0, 2, device=DEVICE), torch.tensor([[9, 9]], device=DEVICE)
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.scatter(0, index, torch.ones(1, 2, device=DEVICE))
