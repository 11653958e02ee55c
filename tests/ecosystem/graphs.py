"""A graph made here."""

import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected


def random_graph():
    """Sixty nodes with features and classes, joined at random."""
    nodes = torch.randn(60, 8)
    return Data(x=nodes, edge_index=to_undirected(torch.randint(0, 60, (2, 150))), y=nodes[:, :3].argmax(1))
