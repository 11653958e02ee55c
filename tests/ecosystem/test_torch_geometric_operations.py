"""torch_geometric without its compiled extensions: the scatter and segment paths under graph networks."""

import pytest
import torch
from torch_geometric import EdgeIndex
from torch_geometric import nn as gnn
from torch_geometric.utils import coalesce, scatter, segment, softmax, to_dense_adj, to_dense_batch

from .conftest import DEVICE, twins
from .graphs import random_graph


@pytest.fixture
def graph():
    return random_graph()


@pytest.mark.parametrize("reduce", ("sum", "mean", "min", "max", "mul"))
def test_scatter_gives_what_the_cpu_gives(reduce, same):
    values, index = torch.randn(40, 3), torch.randint(0, 7, (40,))
    given, copied = values.clone().requires_grad_(), values.to(DEVICE).requires_grad_()
    wanted, found = (scatter(v, index.to(v.device), dim=0, reduce=reduce) for v in (given, copied))
    same(found, wanted)
    wanted.square().sum().backward()
    found.square().sum().backward()
    same(copied.grad, given.grad)


@pytest.mark.parametrize("reduce", ("sum", "mean", "min", "max"))
def test_segment_gives_what_the_cpu_gives(reduce, same):
    values, pointers = torch.randn(40, 3), torch.tensor([0, 4, 4, 19, 40])
    same(segment(values.to(DEVICE), pointers.to(DEVICE), reduce), segment(values, pointers, reduce))


def test_softmax_over_groups_gives_what_the_cpu_gives(same):
    values, index = torch.randn(30, 2), torch.randint(0, 5, (30,))
    same(softmax(values.to(DEVICE), index.to(DEVICE)), softmax(values, index))


def test_graph_utilities_give_what_the_cpu_gives(graph, same):
    edges, groups = graph.edge_index, torch.arange(60) // 20
    same(coalesce(edges.flip(1).to(DEVICE)), coalesce(edges.flip(1)))
    same(to_dense_adj(edges.to(DEVICE)), to_dense_adj(edges))
    same(list(to_dense_batch(graph.x.to(DEVICE), groups.to(DEVICE))), list(to_dense_batch(graph.x, groups)))


def test_normalisation_layers_give_what_the_cpu_gives(graph, same):
    groups = torch.arange(60) // 20
    for layer in (gnn.GraphNorm(8), gnn.PairNorm(), gnn.InstanceNorm(8), gnn.LayerNorm(8)):
        model, copied = twins(layer)
        same(copied(graph.x.to(DEVICE), groups.to(DEVICE)), model(graph.x, groups))


def test_edges_that_know_their_order_multiply_as_on_the_cpu(graph, same):
    edges = EdgeIndex(graph.edge_index, sparse_size=(60, 60), is_undirected=True).sort_by("row").values
    same(edges.to(DEVICE).matmul(graph.x.to(DEVICE)), edges.matmul(graph.x))


AGGREGATIONS = {
    "Var": {}, "Std": {}, "Softmax": {"learn": True}, "PowerMean": {"learn": True}, "Median": {}, "Mul": {},
    "Quantile": {"q": 0.3}, "Sort": {"k": 3}, "LSTM": {"in_channels": 3, "out_channels": 2},
}  # fmt: skip


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_aggregations_give_what_the_cpu_gives(name, same):
    model, copied = twins(getattr(gnn.aggr, f"{name}Aggregation")(**AGGREGATIONS[name]))
    values, index = torch.rand(30, 3) + 0.1, torch.randint(0, 5, (30,)).sort().values
    # The CPU's recurrent layers are one library call, and another order of sums.
    tolerance = {"rtol": 1e-5, "atol": 1e-6} if name == "LSTM" else {}
    same(copied(values.to(DEVICE), index.to(DEVICE)), model(values, index), **tolerance)
