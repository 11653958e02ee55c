"""Written arguments: in place, ``out=`` of any size, lists; views and storages stay the same objects."""

import pytest
import torch

from .conftest import DEVICE, moved, same

a, b = torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)


def test_in_place_gives_the_same_tensor(boxed):
    x = moved(a)
    address = x.data_ptr()
    assert x.add_(moved(b)) is x and x.data_ptr() == address
    same(x, a + b)
    boxed("add_.Tensor")


def test_writing_through_a_view_is_seen(boxed):
    x = moved(a)
    x[0].mul_(10)
    x.t()[2].fill_(-1)
    wanted = a.clone()
    wanted[0].mul_(10)
    wanted.t()[2].fill_(-1)
    same(x, wanted)
    boxed("mul_.Tensor", "fill_.Scalar")


@pytest.mark.parametrize("size", [(2, 3), (0,), (1,)])
def test_out_takes_the_results_size(size, boxed):
    out = torch.empty(size, device=DEVICE)
    assert torch.add(moved(a), moved(b), out=out) is out
    same(out, a + b)
    assert out.untyped_storage().nbytes() >= out.nbytes
    boxed("add.out")
    out.add_(1)
    same(out, a + b + 1)


def test_a_resized_out_leaves_no_stale_memory():
    """Two tensors on one storage: when a kernel gives it more memory, both see the new one."""
    out = torch.empty(0, device=DEVICE)
    other = out.view(0)
    torch.arange(1000.0, device=DEVICE, out=out)
    assert other.untyped_storage().data_ptr() == out.untyped_storage().data_ptr()
    assert other.set_(other.untyped_storage(), 0, (1000,)).sum().item() == 499500


def test_several_outs(boxed):
    values, indices = torch.empty(0, device=DEVICE), torch.empty(0, dtype=torch.int64, device=DEVICE)
    found = torch.topk(moved(a), 2, out=(values, indices))
    assert found[0] is values and found[1] is indices
    same((values, indices), tuple(torch.topk(a, 2)))
    boxed("topk.values")


def test_an_out_that_is_an_argument():
    x = moved(a)
    torch.mul(x, x, out=x)
    same(x, a * a)
    small = moved(b[:1])
    with pytest.raises(RuntimeError, match="shape"):
        small.add_(moved(a))
    same(small, b[:1])


def test_lists_are_written_in_place_and_counted(boxed):
    tensors = [moved(a), moved(b), torch.empty(0, device=DEVICE)]
    versions = [t._version for t in tensors]
    torch._foreach_add_(tensors, 1.0)
    boxed("_foreach_add_.Scalar")
    same(tensors, [a + 1, b + 1, torch.empty(0)])
    reference = [a.clone()]
    before = reference[0]._version
    torch._foreach_add_(reference, 1.0)
    assert tensors[0]._version - versions[0] == reference[0]._version - before == 1


def test_a_changed_tensor_is_refused_by_backward():
    x = moved(a).requires_grad_()
    y = x.exp()
    torch._foreach_mul_([y.detach()], 2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_resizing_keeps_the_contents():
    x = moved(a)
    x.resize_(4, 3)
    same(x[:2], a)
    x.mul_(0)
    assert x.abs().sum().item() == 0


def test_index_put_and_scatter(boxed):
    x, wanted = moved(a), a.clone()
    place, values = torch.tensor([1, 0]), torch.tensor([7.0, 8.0])
    x[moved(place), moved(place)] = moved(values)
    wanted[place, place] = values
    x.index_put_((moved(place), moved(place)), moved(values), accumulate=True)
    wanted.index_put_((place, place), values, accumulate=True)
    same(x, wanted)
    boxed("index_put_")
    same(x.scatter_add(0, moved(a.long() % 2), moved(b)), wanted.scatter_add(0, a.long() % 2, b))
    boxed("scatter_add")
