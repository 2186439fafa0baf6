from __future__ import annotations

import pytest
import torch
import torch_geometric.datasets
from torch_geometric.data import Data, HeteroData, InMemoryDataset

from graphprox import DatasetError, GraphError, load_dataset


class Several(InMemoryDataset):
    """A PyG data set that is generated, not downloaded."""

    graphs = (Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]])),)

    def __init__(self, root):
        super().__init__(root)
        self.load(self.processed_paths[0])

    @property
    def processed_file_names(self):
        return "data.pt"

    def process(self):
        self.save(list(self.graphs), self.processed_paths[0])


@pytest.fixture
def provide(monkeypatch, no_data):
    def provide(*graphs):
        made = type("Several", (Several,), {"graphs": graphs})
        if isinstance(graphs[0], HeteroData):
            made.load = lambda self, path: InMemoryDataset.load(self, path, HeteroData)
        monkeypatch.setattr(torch_geometric.datasets, "Several", made, raising=False)

    return provide


def test_any_pyg_class_can_be_loaded_by_name(provide):
    masks = {
        f"{part}_mask": torch.tensor(mask)
        for part, mask in zip(("train", "val", "test"), torch.eye(3).bool().tolist(), strict=True)
    }
    provide(Data(x=torch.eye(3), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([0, 1, 1]), **masks))
    dataset = load_dataset("pyg:Several")
    assert (dataset.name, dataset.graph.num_nodes, dataset.graph.directed) == ("pyg:Several", 3, True)
    (split,) = dataset.splits["public"]
    assert (split.train.tolist(), split.val.tolist(), split.test.tolist()) == ([0], [1], [2])


def test_data_sets_of_several_graphs_are_rejected(provide):
    graph = Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]))
    provide(graph, graph)
    with pytest.raises(DatasetError, match=r"must contain a single graph; pyg:Several contains 2"):
        load_dataset("pyg:Several")


def test_heterogeneous_graphs_are_rejected(provide):
    graph = HeteroData()
    graph["a"].x, graph["b"].x = torch.eye(2), torch.eye(2)
    graph["a", "to", "b"].edge_index = torch.tensor([[0], [1]])
    provide(graph)
    with pytest.raises(GraphError, match="to_homogeneous"):
        load_dataset("pyg:Several")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("pyg:NoSuchClass", "torch_geometric.datasets; it has no 'NoSuchClass'"),
        ("pyg:Amazon", "got none: write pyg:Amazon:NAME"),
        ("pyg:Actor:Film", "got 'Film': write pyg:Actor$"),
        ("pyg:Amazon:Foto", "a data set of PyG's Amazon; it has no 'Foto'"),
    ],
)
def test_an_invalid_name_is_rejected_with_the_correct_form(no_data, name, sentence):
    with pytest.raises(DatasetError, match=sentence):
        load_dataset(name)
