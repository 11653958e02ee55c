"""CUDA graphs: flagos' work is captured by `torch.cuda.graph`, and the current stream says so."""

import torch


def test_the_current_stream_says_that_it_is_captured():
    x = torch.ones(4, device="flagos")
    assert torch.flagos.is_current_stream_capturing() is False
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        inside = torch.flagos.is_current_stream_capturing()
        y = x * 2
    assert inside is True and torch.flagos.is_current_stream_capturing() is False
    x.fill_(3)
    graph.replay()
    assert y.tolist() == [6.0] * 4
