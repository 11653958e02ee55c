"""torch_geometric without its compiled extensions: graph networks train and predict as on the CPU."""

import pytest
import torch
import torch_geometric
from torch import nn
from torch_geometric import nn as gnn
from torch_geometric.data import Batch, HeteroData
from torch_geometric.loader import DataLoader
from torch_geometric.utils import to_torch_coo_tensor, to_torch_csr_tensor

from .conftest import DEVICE, twins
from .graphs import random_graph

CONVOLUTIONS = {
    "gcn": lambda a, b: gnn.GCNConv(a, b),
    "gat": lambda a, b: gnn.GATConv(a, b, heads=2, concat=False),
    "gatv2": lambda a, b: gnn.GATv2Conv(a, b, heads=2, concat=False),
    "sage": lambda a, b: gnn.SAGEConv(a, b, aggr="max"),
    "gin": lambda a, b: gnn.GINConv(nn.Linear(a, b)),
    "transformer": lambda a, b: gnn.TransformerConv(a, b, heads=2, concat=False),
}


class Network(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.first, self.second = CONVOLUTIONS[kind](8, 16), CONVOLUTIONS[kind](16, 3)

    def forward(self, nodes, edges):
        return self.second(self.first(nodes, edges).relu(), edges)


@pytest.fixture
def graph():
    return random_graph()


def fit(model, graph, steps=5):
    graph = graph.to(next(model.parameters()).device)
    made, losses = torch.optim.Adam(model.parameters(), lr=0.01, foreach=True), []
    for _ in range(steps):
        made.zero_grad()
        loss = nn.functional.cross_entropy(model(graph.x, graph.edge_index), graph.y)
        loss.backward()
        made.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_training_gives_the_losses_and_weights_of_the_cpu(kind, graph, same, served):
    model, copied = twins(Network(kind))
    wanted = fit(model, graph)
    assert fit(copied, graph.clone()) == wanted
    assert wanted[-1] < wanted[0]
    same(copied.state_dict(), model.state_dict())
    assert served.calls("index_select") + served.calls("gather")


@pytest.mark.parametrize("pool", (gnn.global_add_pool, gnn.global_mean_pool, gnn.global_max_pool))
def test_a_batch_of_graphs_gives_what_the_cpu_gives(pool, graph, same):
    batch = Batch.from_data_list([graph, graph.subgraph(torch.arange(30)), graph])
    model, copied = twins(Network("gcn"))
    wanted = pool(model(batch.x, batch.edge_index), batch.batch)
    moved = batch.to(DEVICE)
    same(pool(copied(moved.x, moved.edge_index), moved.batch), wanted)


def test_a_loader_of_graphs_feeds_the_device(graph):
    model, seen = Network("gat").to(DEVICE), 0
    for batch in DataLoader([graph] * 4, batch_size=2):
        assert model(batch.to(DEVICE).x, batch.edge_index).shape == (120, 3)
        seen += 1
    assert seen == 2


@pytest.mark.parametrize("layout", (to_torch_csr_tensor, to_torch_coo_tensor))
@pytest.mark.parametrize("kind", ("gcn", "sage", "gin"))
def test_sparse_adjacencies_give_what_the_cpu_gives(layout, kind, graph, same):
    model, copied = twins(CONVOLUTIONS[kind](8, 4) if kind != "sage" else gnn.SAGEConv(8, 4))
    edges = layout(graph.edge_index, size=(60, 60))
    found = []
    for each, device in ((copied, DEVICE), (model, "cpu")):
        nodes = graph.x.to(device, copy=True).requires_grad_()
        result = each(nodes, edges.to(device))
        result.square().sum().backward()
        found.append([result, nodes.grad])
    same(*found)


def test_a_graph_of_several_kinds_gives_what_the_cpu_gives(same):
    data, edges = HeteroData(), torch.tensor([[0, 1, 2, 2], [3, 4, 5, 3]])
    data["a"].x, data["b"].x = torch.randn(5, 4), torch.randn(6, 4)
    data["a", "to", "b"].edge_index, data["b", "to", "a"].edge_index = edges, edges.flip(0)
    model, copied = twins(
        gnn.HeteroConv(
            {
                ("a", "to", "b"): gnn.SAGEConv((4, 4), 3),
                ("b", "to", "a"): gnn.GATConv((4, 4), 3, add_self_loops=False),
            }
        )
    )
    wanted = model(data.x_dict, data.edge_index_dict)
    moved = data.to(DEVICE)
    same(copied(moved.x_dict, moved.edge_index_dict), wanted)


def test_a_pooled_graph_is_that_of_the_cpu(graph, same):
    model, copied = twins(gnn.TopKPooling(8, 0.5))
    groups = torch.arange(60) // 20
    wanted = model(graph.x, graph.edge_index, batch=groups)
    found = copied(graph.x.to(DEVICE), graph.edge_index.to(DEVICE), batch=groups.to(DEVICE))
    same([part for part in found if part is not None], [part for part in wanted if part is not None])


@pytest.mark.no_kernels
def test_the_library_has_to_be_told_the_device():
    """Its `auto` keeps a list of devices and asks no registry."""
    assert torch_geometric.device("auto").type == "cpu"
    assert torch_geometric.device(DEVICE).type == DEVICE
