"""Kernels at the key CUDA: the CPU's on device memory, in every shape of argument and result."""


def test_results_equal_the_cpus_and_lie_on_the_device(passes):
    passes(
        """
        x, y = torch.randn(3, 4), torch.randn(4, 3)
        a, b = x.to(D), y.to(D)
        for found, wanted in ((a + 1, x + 1), (a @ b, x @ y), (a.sum(1), x.sum(1)), (a.sort()[1], x.sort()[1]), (a > 0, x > 0)):
            assert found.device == torch.device("cuda", 0) == found.untyped_storage().device
            assert_close(found.cpu(), wanted)
        square = x @ x.mT + torch.eye(3)
        assert_close(torch.linalg.cholesky(square.to(D)).cpu(), torch.linalg.cholesky(square))
        assert_close(torch.fft.rfft(a).cpu(), torch.fft.rfft(x))
        assert torch.equal(a, a.clone()) and not torch.equal(a, a + 1)
        """
    )


def test_written_arguments_keep_their_memory_and_get_their_size(passes):
    passes(
        """
        out = torch.empty(0, device=D)
        assert torch.add(torch.ones(3, device=D), 1, out=out) is out and out.tolist() == [2] * 3
        turned = torch.zeros(2, 3, device=D).t()
        address = turned.data_ptr()
        torch.add(torch.ones(3, 2, device=D), 1, out=turned)
        assert turned.stride() == (1, 3) and turned.data_ptr() == address and turned.sum().item() == 12
        x = torch.arange(6.0, device=D)
        assert x[::2].mul_(10).data_ptr() == x.data_ptr() and x.tolist() == [0, 1, 20, 3, 40, 5]
        x.resize_(8)[6:] = 7
        assert x.tolist() == [0, 1, 20, 3, 40, 5, 7, 7]
        """
    )


def test_arguments_that_overlap_are_seen_as_such(passes):
    passes(
        """
        x = torch.arange(6.0, device=D)
        for call in (lambda: torch.add(x[1:], 1, out=x[:-1]), lambda: x.add_(x[0])):
            assert "single memory location" in refused(RuntimeError, call)
        torch.mul(x, x, out=x)
        assert x.tolist() == [0, 1, 4, 9, 16, 25]
        """
    )


def test_views_share_memory(passes):
    passes(
        """
        x = torch.arange(24.0, device=D).view(2, 3, 4)
        for view in (x.unfold(2, 2, 1), x[:, 1], x.mT, x.as_strided((2, 2), (1, 5)), x.view(6, 4), x.expand(2, 2, 3, 4)):
            assert view._is_view() and view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        x.unfold(2, 2, 1).zero_()
        assert x.sum().item() == 0
        c = torch.randn(3, 3, dtype=torch.complex64, device=D)
        torch.view_as_real(c)[..., 1] = 2
        assert_close((c.conj() @ c.mH).cpu(), c.cpu().conj() @ c.cpu().mH)
        assert_close(c.conj().imag.cpu(), torch.full((3, 3), -2.0))
        assert_close(torch.view_as_complex(torch.ones(2, 2, device=D)).cpu(), torch.full((2,), 1 + 1j))
        """
    )


def test_indices_and_lists(passes):
    passes(
        """
        x = torch.arange(12.0).view(3, 4)
        a, rows = x.to(D), torch.tensor([0, 2])
        assert_close(a[rows.to(D)].cpu(), x[rows])
        assert_close(a[rows].cpu(), x[rows])  # indices may lie on the CPU
        assert_close(a[a > 5].cpu(), x[x > 5])
        assert_close(a.nonzero().cpu(), x.nonzero())
        a[0, 0] = torch.tensor(3.0)
        a.index_put_((torch.tensor([1, 1], device=D),), torch.ones(2, 4, device=D), accumulate=True)
        assert a[1].tolist() == [6, 7, 8, 9]
        parts = [torch.ones(2, device=D), torch.zeros(2, device=D)]
        assert torch.cat(parts).tolist() == [1, 1, 0, 0] and torch.stack(parts).shape == (2, 2)
        torch._foreach_add_(parts, 1.0)
        assert [part.tolist() for part in parts] == [[2, 2], [1, 1]] and [part._version for part in parts] == [1, 1]
        assert_close(torch.stack(torch._foreach_norm(parts)).cpu(), torch.tensor([8, 2]).sqrt())
        assert [part.tolist() for part in torch.cat(parts).split(1)] == [[2], [2], [1], [1]]
        """
    )


def test_scalars_of_the_cpu_and_numbers_keep_the_dtype(passes):
    passes(
        """
        half = torch.ones(3, device=D, dtype=torch.half)
        assert (half * 2.5).dtype == torch.half and (half * torch.tensor(2.0)).dtype == torch.half
        assert (half * torch.ones(3, device=D)).dtype == torch.float
        assert torch.where(half > 0, half, 0.0).tolist() == [1] * 3
        assert "at least two devices, cuda:0 and cpu" in refused(RuntimeError, lambda: half + torch.ones(3))
        """
    )


def test_factories(passes):
    passes(
        """
        for x in (
            torch.randperm(10, device=D),
            torch.arange(3, device=D),
            torch.eye(3, device=D),
            torch.tril_indices(3, 3, device=D),
            torch.kaiser_window(5, device=D),
            torch.full((2,), 3, device=D),
            torch.tensor([1, 2], device=D),
            torch.normal(0.0, 1.0, (3,), device=D),
        ):
            assert x.device == torch.device("cuda", 0) == x.untyped_storage().device and x.isfinite().all()
        torch.use_deterministic_algorithms(True)
        assert torch.empty(3, device=D).isnan().all()
        """
    )


def test_products_have_the_precision_that_pytorchs_switches_allow(passes):
    passes(
        """
        x = torch.full((2, 2), 1 + 2.0**-12)  # a bit more than TF32 has
        exact, rounded = (x @ x).to(D), torch.full((2, 2), 2.0, device=D)
        assert torch.equal(x.to(D) @ x.to(D), exact)
        torch.backends.cuda.matmul.allow_tf32 = True
        assert torch.equal(x.to(D) @ x.to(D), rounded)
        assert torch.equal(x.double().to(D) @ x.double().to(D), (x.double() @ x.double()).to(D))
        for channels, rounds in ((15, False), (16, True)):
            signal = torch.zeros(1, channels, 2)
            signal[0, 0] = x[0]
            weight = torch.ones(channels, channels, 1)
            found = torch.conv1d(signal.to(D), weight.to(D)).cpu()
            assert torch.equal(found, torch.ones(1, channels, 2) if rounds else torch.conv1d(signal, weight))
        """
    )


def test_other_layouts_are_refused(passes):
    passes(
        """
        message = refused(NotImplementedError, lambda: torch.empty(2, device=D, layout=torch.sparse_coo))
        assert "from the 'SparseCUDA' backend" in message
        """
    )
