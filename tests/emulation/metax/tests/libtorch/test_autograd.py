"""PyTorch's autograd, autocast and optimizers above the fork's kernels."""


def test_gradients_equal_the_cpus(passes):
    passes(
        """
        def gradients(device):
            torch.manual_seed(1)
            x = torch.randn(2, 4, 8, 8).to(device).requires_grad_()
            weights = [torch.randn(shape).to(device).requires_grad_() for shape in ((4, 1, 3, 3), (4, 4, 3, 3), (3, 4))]
            y = torch.nn.functional.conv2d(x, weights[0], groups=4)
            y = torch.nn.functional.conv2d(y, weights[1], dilation=2).relu().mean((2, 3))
            y = torch.nn.functional.linear(y, weights[2])
            torch.nn.functional.cross_entropy(y, torch.tensor([0, 2]).to(device)).backward()
            return [leaf.grad.cpu() for leaf in (x, *weights)]
        assert_close(gradients(D), gradients("cpu"))
        """
    )


def test_recurrent_cells_and_attention_equal_the_cpus(passes):
    passes(
        """
        for kind in (torch.nn.LSTM, torch.nn.GRU):
            cell, x = kind(3, 4), torch.randn(5, 2, 3)
            wanted = cell(x)[0]
            wanted.sum().backward()
            gradients = [parameter.grad.clone() for parameter in cell.parameters()]
            cell.zero_grad()
            found = cell.to(D)(x.to(D))[0]
            found.sum().backward()
            assert_close(found.cpu(), wanted)
            assert_close([parameter.grad.cpu() for parameter in cell.parameters()], gradients)
        query = torch.randn(1, 2, 4, 8)
        attention = torch.nn.functional.scaled_dot_product_attention
        assert_close(attention(*[query.to(D)] * 3, is_causal=True).cpu(), attention(*[query] * 3, is_causal=True))
        """
    )


def test_optimizers_train(passes):
    passes(
        """
        for options in ({"fused": True}, {"foreach": True}, {"foreach": False}):
            torch.manual_seed(0)
            model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.Dropout(0.1), torch.nn.Linear(16, 4)).to(D)
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, **options)
            x, wanted, losses = torch.randn(16, 8, device=D), torch.arange(16, device=D) % 4, []
            for _ in range(10):
                loss = torch.nn.functional.cross_entropy(model(x), wanted)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            assert losses[-1] < losses[0]
            assert model[1].num_batches_tracked.item() == 10 and model[1].running_mean.abs().sum() > 0
        """
    )


def test_autocast_and_what_gradient_scaling_is_made_of(passes):
    passes(
        """
        torch.set_autocast_dtype("cuda", torch.float16)
        torch.set_autocast_enabled("cuda", True)
        x = torch.ones(2, 2, device=D)
        assert (x @ x).dtype == torch.float16 and (x @ x).exp().dtype == torch.float32
        torch.set_autocast_enabled("cuda", False)

        scale, growth = torch.tensor(4.0, device=D), torch.zeros((), dtype=torch.int, device=D)
        for value, wanted in ((8.0, (4.0, 8.0)), (float("inf"), (None, 4.0))):
            gradients, found = [torch.full((3,), value, device=D), torch.full((2,), 2.0, device=D)], torch.zeros((), device=D)
            torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, torch.tensor(0.5, device=D))
            assert found.item() == (wanted[0] is None) and (wanted[0] is None or gradients[0].tolist() == [wanted[0]] * 3)
            torch._amp_update_scale_(scale, growth, found, 2.0, 0.5, 1)
            assert scale.item() == wanted[1]
        """
    )


def test_a_sparse_gradient_can_be_taken_apart(passes):
    passes(
        """
        rows = torch.tensor([1, 3, 1], device=D)
        gradient = torch.ops.aten.embedding_sparse_backward(torch.ones(3, 2, device=D), rows, 5, -1, False)
        assert gradient.layout == torch.sparse_coo and gradient._indices().is_cuda and gradient._values().is_cuda
        assert gradient._indices().tolist() == [[1, 3, 1]] and gradient._values().tolist() == [[1, 1]] * 3
        """
    )


def test_a_gradient_on_another_device_and_a_process_that_ends_after_backward(passes):
    source = """
        x = torch.ones(3, device="cuda:1", requires_grad=True)
        (x.to("cuda:0") * 2).sum().backward()
        print(x.grad.device, x.grad.tolist())
    """
    assert passes(source) == "cuda:1 [2.0, 2.0, 2.0]\n"
