"""The default method on graphs without features: classes of airports, and held-out edges of social networks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphprox import AutoEmbedder, DeepWalk, GraphEmbedder, edge_split, load
from graphprox.datasets.catalog import CATALOG
from graphprox.errors import DatasetError
from graphprox.evaluation import link_prediction
from graphprox.graph.graph import Graph
from graphprox.graph.structural import has_informative_features
from reproduction.left_out import FIRST_SPLIT, FLOORS, fingerprint, val_accuracy
from reproduction.observations import format_rows, read_observations, write_observations
from reproduction.splitting import STREAM

AUTO, WALKS = "auto", "deepwalk"
MAX_WALK_NODES = 20_000  # DeepWalk takes minutes on larger graphs


@dataclass(frozen=True)
class FeaturelessObservation:
    """What was measured on a graph without features.

    Parameters
    ----------
    dataset : str
    measure : {"accuracy", "AUC"}
        Validation accuracy if there are classes; otherwise the area under the ROC curve of validation edges, ranked by
        cosine.
    figures : mapping of str to float
        By method.
    constants : str
        Fingerprint of the constants.
    """

    dataset: str
    measure: str
    figures: Mapping[str, float]
    constants: str


def observe_featureless(path: Path, data: Path | None) -> Iterator[FeaturelessObservation]:
    """Measure all graphs without features that are available, and write each result as it comes.

    Parameters
    ----------
    path : Path
        JSON Lines; graphs that were measured with the same constants are not measured again.
    data : Path or None
        Folder of data sets.

    Yields
    ------
    FeaturelessObservation
    """
    known = {each.dataset: each for each in read_observations(path, FeaturelessObservation)}
    for name in CATALOG:
        if name not in known or known[name].constants != fingerprint():
            try:
                graph = load(name, data=data).graph
            except DatasetError:
                continue
            if has_informative_features(graph):
                continue
            known[name] = observe_graph(name, graph)
            write_observations(path, known.values())
        yield known[name]


def observe_graph(name: str, graph: Graph) -> FeaturelessObservation:
    """Measure the default method, the floors and DeepWalk on one graph."""
    methods: dict[str, type[GraphEmbedder]] = {AUTO: AutoEmbedder, **FLOORS}
    if graph.num_nodes <= MAX_WALK_NODES:
        methods[WALKS] = DeepWalk
    if graph.y is not None:
        figures = {method: val_accuracy(graph, cls().fit_transform(graph)) for method, cls in methods.items()}
        return FeaturelessObservation(name, "accuracy", figures, fingerprint())
    split = edge_split(graph, random_state=FIRST_SPLIT, stream=STREAM)
    figures = {
        method: link_prediction(split, cls().fit_transform(split.graph)).val_cosine_auc
        for method, cls in methods.items()
    }
    return FeaturelessObservation(name, "AUC", figures, fingerprint())


_SECTION = """
## Graphs without features

Features of the floors are one-hot nodes in the airports, and degrees in the social networks;
classes of airports are levels of activity. Accuracy of validation nodes, or AUC of validation edges by cosine.

| graph | measure | auto | raw | smoothed | diffused | DeepWalk |
|---|---|---|---|---|---|---|
{rows}"""


def make_section(observations: Sequence[FeaturelessObservation]) -> str:
    """Return the section about graphs without features; empty without observations."""
    if not observations:
        return ""
    return _SECTION.format(
        rows=format_rows(
            (
                each.dataset,
                each.measure,
                *(
                    f"{100 * each.figures[method]:.1f}" if method in each.figures else "–"
                    for method in (AUTO, *FLOORS, WALKS)
                ),
            )
            for each in observations
        )
    )
