"""CPU kernels on copies of device memory, as on a card: what they write goes back, and nothing else.

On `host` they work on the devices' own bytes; FLAGOS_HOST_COPIES=1 keeps them away from these, as every card does.
"""

import textwrap

import pytest
from torch_fl import _C

pytestmark = [
    pytest.mark.capability("emulated"),
    pytest.mark.skipif(bool(_C.native_device_type()), reason="PyTorch's kernels for the card serve here, and work on its own bytes"),
]

HEAD = """
import torch
from torch_fl import _C

D = "flagos"

def same(found, want):
    torch.testing.assert_close(found.cpu(), want, check_stride=False)

torch.ones(2, device=D).double()
# On the devices' own bytes such a copy is no call of a kernel: nothing here would be tried.
assert any(op == "_copy_from" for op, _ in _C.dispatch_counts())
"""
PROGRAMS = {
    "a view that is written leaves its neighbours alone": """
        x = torch.arange(24.0, device=D).view(4, 6)
        x[:, 1::2].add_(100)
        x.t()[2].mul_(-1)
        want = torch.arange(24.0).view(4, 6)
        want[:, 1::2].add_(100)
        want.t()[2].mul_(-1)
        same(x, want)
        """,
    "arguments that overlap are seen as overlapping": """
        x, want = torch.arange(8.0, device=D), torch.arange(8.0)
        torch.add(x[1:], 1, out=x[1:])
        torch.add(want[1:], 1, out=want[1:])
        same(x, want)
        for t in (x, want):
            try:
                torch.add(t[:-1], 1, out=t[1:])
            except RuntimeError as error:
                assert "single memory location" in str(error)
            else:
                raise AssertionError("an overlap was not seen")
        """,
    "an out= that grows gets new memory, one that fits keeps its own": """
        out = torch.empty(0, device=D)
        torch.add(torch.ones(5, device=D), 1, out=out)
        same(out, torch.full((5,), 2.0))
        kept = torch.empty(10, device=D)
        address = kept.data_ptr()
        kept.resize_(0)
        torch.mul(torch.ones(2, 5, device=D), 3, out=kept)
        assert kept.data_ptr() == address
        same(kept, torch.full((2, 5), 3.0))
        """,
    "an argument that is returned is that argument": """
        x = torch.ones(3, device=D)
        assert x.add_(1) is x and torch.exp(x, out=x) is x
        same(x, torch.full((3,), 2.0).exp())
        """,
    "lists are written one by one": """
        xs = [torch.ones(n, device=D) for n in (1, 3, 0, 2)]
        torch._foreach_add_(xs, 1)
        for x in xs:
            same(x, torch.full_like(x, 2, device="cpu"))
        """,
    "an index that is written many times is written as by the CPU": """
        x, want = torch.zeros(4, device=D), torch.zeros(4)
        for t in (x, want):
            i = torch.tensor([0, 1, 1, 3, 3, 3], device=t.device)
            t.index_put_((i,), torch.ones(6, device=t.device), accumulate=True)
        same(x, want)
        """,
    "conversions, strides and devices in one copy": """
        x = torch.arange(60, device=D).view(3, 4, 5)
        there = torch.zeros(5, 8, 3, device="flagos:1", dtype=torch.float64)[:, ::2]
        there.copy_(x.permute(2, 1, 0))
        same(there, torch.arange(60.0, dtype=torch.float64).view(3, 4, 5).permute(2, 1, 0))
        z = torch.view_as_complex(torch.arange(8.0, device=D).view(4, 2))
        same(z.conj().to("flagos:1"), torch.view_as_complex(torch.arange(8.0).view(4, 2)).conj())
        """,
    "work of a stream is waited for": """
        s = torch.flagos.Stream()
        x = (torch.arange(90000.0) % 7 - 3).view(300, 300).to(D)  # whole numbers: no order of a sum matters
        s.wait_stream(torch.flagos.current_stream())
        with torch.flagos.stream(s):
            y = x @ x
            y += 1
        s.synchronize()
        same(y, x.cpu() @ x.cpu() + 1)
        """,
    "training gives what the CPU gives": """
        def train(device):
            torch.manual_seed(1)
            net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).to(device)
            step = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
            for _ in range(3):
                step.zero_grad()
                net(torch.ones(5, 4, device=device)).pow(2).mean().backward()
                step.step()
            return [p.detach() for p in net.parameters()]
        for x, want in zip(train(D), train("cpu")):
            same(x, want)
        """,
}


@pytest.mark.devices(2)
def test_on_copies(python):
    """All in one process, which is what takes the time; the last name that is printed is the one that failed."""
    blocks = "".join(f"\nprint({name!r}){textwrap.dedent(program)}" for name, program in PROGRAMS.items())
    done = python(HEAD + blocks + "\ntorch.flagos.synchronize()\n", FLAGOS_HOST_COPIES="1")
    assert done.stdout.splitlines() == list(PROGRAMS)
