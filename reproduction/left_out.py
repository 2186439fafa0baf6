"""What a new user can expect of the default method: its constants, chosen without the graph they are applied to.

Every weight and exponent of :mod:`graphprox.auto` is varied, one at a time, on every graph. For each graph the others
choose a variant, and it is compared with raw, smoothed and diffused features on the graph that was left out.
The same figures show what each part is worth. Validation nodes and edges count, of splits that no table has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
from scipy.stats import spearmanr

from graphprox import (
    AutoEmbedder,
    DiffusedFeatures,
    GraphEmbedder,
    RawFeatures,
    SmoothedFeatures,
    auto,
    edge_split,
    load,
    random_split,
)
from graphprox._utils.arrays import Features, FloatArray
from graphprox._utils.figures import new_figure, write_figure
from graphprox._utils.registry import Registry
from graphprox.auto.combination import Combination
from graphprox.auto.criteria.base import BALANCED, FEATURES, GRAPH, RATIOS
from graphprox.auto.outputs import OUTPUTS, PreparedGraph
from graphprox.auto.positions import Positions
from graphprox.auto.preparation import SHARPNESS as FEATURE_SHARPNESS
from graphprox.auto.preparation import Preparation
from graphprox.auto.selection import POPULARITY, SHARPNESS, SIMILAR, Mixture, Selection, interpolate
from graphprox.datasets.catalog import CATALOG
from graphprox.errors import DatasetError
from graphprox.evaluation import LinearProbe, link_prediction
from graphprox.evaluation.inputs import get_labels
from graphprox.graph.graph import Graph
from graphprox.graph.structural import has_informative_features
from graphprox.io.storage.files import atomic_write
from reproduction.observations import read_observations, write_observations
from reproduction.splitting import STREAM

FIRST_SPLIT = 1000  # splits of the tables begin at 0
NUM_SPLITS, FEW_SPLITS, LARGE = 10, 2, 5_000
MIN_EDGES = 5_000  # a twentieth of fewer says little
MAX_LINK_NODES = 10_000  # larger graphs take long
N_COMPONENTS = 256
PACKAGE = "as it is"
WITHOUT_EFFECT = ("explanation", "storage")  # modules whose constants do not change an embedding
FLOORS: Mapping[str, type[GraphEmbedder]] = {
    "raw": RawFeatures,
    "smoothed": SmoothedFeatures,
    "diffused": DiffusedFeatures,
}


# -- variants ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    """The default method with other constants.

    Parameters
    ----------
    factors : mapping of str to float
        Factor of all weights of an output.
    ratios : mapping of str to float
        Ratio that each weight is meant for.
    sharpness : mapping of str to float
        Exponent of the singular values of the result.
    similar : mapping of str to float
        Weight of the most similar nodes.
    popularity : float
        Size of the column for the number of neighbors.
    preparation : mapping of str to object
        Options of `Preparation.fit`.
    choice : str or None
        Weights of one choice for every graph.
    """

    factors: Mapping[str, float] = field(default_factory=dict)
    ratios: Mapping[str, float] = field(default_factory=lambda: dict(RATIOS))
    sharpness: Mapping[str, float] = field(default_factory=lambda: dict(SHARPNESS))
    similar: Mapping[str, float] = field(default_factory=lambda: dict(SIMILAR))
    popularity: float = POPULARITY
    preparation: Mapping[str, float] = field(default_factory=dict)
    choice: str | None = None

    def mixture(self, ratio: float | None) -> Mixture:
        """Return how outputs are mixed in a graph with this ratio."""
        position = self.ratios[self.choice or BALANCED] if ratio is None or self.choice else ratio
        weights = {
            name: self.factors.get(name, 1.0) * interpolate(asdict(output.weights), position, self.ratios)
            for name, output in OUTPUTS.items()
        }
        kept = {name: weight for name, weight in weights.items() if weight > 0}
        sharpness, similar = (interpolate(each, position, self.ratios) for each in (self.sharpness, self.similar))
        return Mixture(kept, sharpness, similar, self.popularity)


def make_variants() -> dict[str, Variant]:
    """Return the variants by what differs from the package."""
    shifts = {
        f"all ratios {shift:+.2f}": {name: each + shift for name, each in RATIOS.items()} for shift in (-0.03, 0.03)
    }
    return {
        PACKAGE: Variant(),
        **{f"without {name}": Variant(factors={name: 0.0}) for name in OUTPUTS},
        "without similar nodes": Variant(similar=dict.fromkeys(SIMILAR, 0.0)),
        "similar nodes count more": Variant(similar={**SIMILAR, BALANCED: 0.3, GRAPH: 1.0}),
        "without popularity": Variant(popularity=0.0),
        "without weights of columns": Variant(preparation={"weighted": False}),
        "features not sharpened": Variant(preparation={"sharpness": 1.0}),
        "features sharpened more": Variant(preparation={"sharpness": 2.0}),
        "features of small graphs sharpened as others": Variant(preparation={"sharpness": FEATURE_SHARPNESS}),
        "result not sharpened": Variant(sharpness={**SHARPNESS, GRAPH: 1.0}),
        "result sharpened more": Variant(sharpness={**SHARPNESS, GRAPH: 1.7}),
        **{name: Variant(ratios=ratios) for name, ratios in shifts.items()},
        **{f"always {choice}": Variant(choice=choice) for choice in RATIOS},
    }


VARIANTS = make_variants()
# One mixture for all graphs is no variant of a constant, but shows what the selection is worth.
SELECTABLE = tuple(name for name, variant in VARIANTS.items() if variant.choice is None)


def fingerprint() -> str:
    """Return a number for all constants that a result depends on, so that older results are measured again."""
    names = [each.name for each in walk_packages(auto.__path__, f"{auto.__name__}.")]
    modules = [import_module(name) for name in names if name.rpartition(".")[2] not in WITHOUT_EFFECT]
    constants = [
        (module.__name__, name, repr(value))
        for module in modules
        for name, value in sorted(vars(module).items())
        if name.isupper() and isinstance(value, int | float | tuple | Mapping) and not isinstance(value, Registry)
    ]
    weights = {name: asdict(output.weights) for name, output in OUTPUTS.items()}
    text = repr((constants, sorted(weights.items()), VARIANTS, NUM_SPLITS, FEW_SPLITS, LARGE, MAX_LINK_NODES))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# -- measurements -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Observation:
    """What was measured on one graph.

    Parameters
    ----------
    dataset : str
    nodes : int
    ratio : float or None
        How informative edges are, compared with features; None if the evidence is thin.
    choice : str
        Choice of the default method as it is.
    accuracy : mapping of str to float
        Validation accuracy of each floor and of each variant.
    auc : mapping of str to float
        Area under the ROC curve of validation edges and as many other pairs, ranked by cosine; empty if the graph has
        few edges.
    constants : str
        Fingerprint of the constants.
    """

    dataset: str
    nodes: int
    ratio: float | None
    choice: str
    accuracy: Mapping[str, float]
    auc: Mapping[str, float]
    constants: str


def observe_graph(name: str, graph: Graph) -> Observation:
    """Measure all variants and all floors on one graph."""
    selection = AutoEmbedder().fit(graph).selection_
    accuracy = {floor: val_accuracy(graph, cls().fit_transform(graph)) for floor, cls in FLOORS.items()}
    for names, vectors in embed_variants(graph, selection):
        accuracy |= dict.fromkeys(names, val_accuracy(graph, vectors))
    if graph.num_edges < MIN_EDGES or graph.num_nodes > MAX_LINK_NODES:
        return Observation(name, graph.num_nodes, selection.ratio, selection.choice, accuracy, {}, fingerprint())
    split = edge_split(graph, random_state=FIRST_SPLIT, stream=STREAM)
    auc = {
        floor: link_prediction(split, cls().fit_transform(split.graph)).val_cosine_auc for floor, cls in FLOORS.items()
    }
    for names, vectors in embed_variants(split.graph, AutoEmbedder().fit(split.graph).selection_):
        auc |= dict.fromkeys(names, link_prediction(split, vectors).val_cosine_auc)
    return Observation(name, graph.num_nodes, selection.ratio, selection.choice, accuracy, auc, fingerprint())


def embed_variants(graph: Graph, selection: Selection) -> Iterator[tuple[list[str], FloatArray]]:
    """Embed a graph by each variant; those that do not differ on this graph are embedded once."""
    positions = Positions.fit(graph, has_features=True, random_state=0)
    num_neighbors = PreparedGraph(graph, np.empty((graph.num_nodes, 0), np.float32), 0).num_neighbors
    outputs: dict[str, dict[str, FloatArray]] = {}
    same: dict[str, list[str]] = {}
    for name, variant in VARIANTS.items():
        same.setdefault(repr((variant.preparation, variant.mixture(selection.ratio))), []).append(name)
    for names in same.values():
        variant = VARIANTS[names[0]]
        key = repr(variant.preparation)
        if key not in outputs:
            fitted = Preparation.fit(graph.x, random_state=0, **variant.preparation)  # type: ignore[arg-type]
            prepared = PreparedGraph.of(graph, fitted, positions, random_state=0)
            outputs[key] = {each: output(prepared) for each, output in OUTPUTS.items()}
        combination = Combination.fit(
            outputs[key],
            variant.mixture(selection.ratio),
            n_components=N_COMPONENTS,
            num_neighbors=num_neighbors,
        )
        yield names, combination.transform(outputs[key], num_neighbors)


def val_accuracy(graph: Graph, vectors: Features) -> float:
    """Return the mean validation accuracy of a linear classifier over splits that no table has."""
    labels, probe = get_labels(graph), LinearProbe()
    count = NUM_SPLITS if graph.num_nodes < LARGE else FEW_SPLITS
    splits = (random_split(graph, random_state=FIRST_SPLIT + number, stream=STREAM) for number in range(count))
    return float(np.mean([probe.evaluate(vectors, labels, split).val_accuracy for split in splits]))


def observe_catalog(path: Path, data: Path | None) -> Iterator[Observation]:
    """Measure all labeled graphs with features that are available, and write each result as it comes.

    Parameters
    ----------
    path : Path
        JSON Lines; graphs that were measured with the same constants are not measured again.
    data : Path or None
        Folder of data sets.

    Yields
    ------
    Observation
    """
    known = {each.dataset: each for each in read_observations(path, Observation)}
    for name, graph in load_catalog(data):
        if name not in known or known[name].constants != fingerprint():
            known[name] = observe_graph(name, graph)
            write_observations(path, known.values())
        yield known[name]


def load_catalog(data: Path | None) -> Iterator[tuple[str, Graph]]:
    """Return the labeled graphs with features that are available, by name."""
    for name in ("synthetic", *CATALOG):
        try:
            graph = load(name, data=data).graph
        except DatasetError:
            continue
        if graph.y is not None and has_informative_features(graph):
            yield name, graph


# -- the page ---------------------------------------------------------------------------------------------------------


def choose_variant(observations: Sequence[Observation]) -> str:
    """Return the variant with the highest mean accuracy; of several, the first."""
    return max(SELECTABLE, key=lambda name: np.mean([each.accuracy[name] for each in observations]))


def write_page(path: Path, observations: Sequence[Observation], more: str = "") -> Path:
    """Write the tables of results on graphs that were left out and of what each part is worth, and more sections."""
    with atomic_write(path) as (temporary,):
        temporary.write_text(_make_page(observations) + more, encoding="utf-8")
    return path


_INTRODUCTION = """\
<!-- Generated by `python -m reproduction left-out`: do not edit. -->

# What to expect on a new graph

Every weight and every exponent of the default method was varied, one at a time. Here each graph is embedded by the
variant with the highest mean accuracy on all the *other* graphs. Accuracy is that of a linear classifier with a tenth
of the nodes for training, AUC that of held-out edges, ranked by cosine, on graphs of at least {edges:,} edges and at
most {nodes:,} nodes; both in percent, of validation nodes and edges, on other splits than those of all tables. The
floor is the best of raw, smoothed and diffused features. The command is `python -m reproduction left-out`.

| graph | ratio | choice | variant that the others choose | accuracy | floor | difference | AUC | floor | difference |
|---|---|---|---|---|---|---|---|---|---|
"""

_SUMMARY = """
- Left out, accuracy is {gain:+.1f} points from the floor on average, and at worst {worst:+.1f} ({worst_graph}); with
  the constants of the package, {gain_now:+.1f} and {worst_now:+.1f} ({worst_graph_now}). AUC is {auc:+.1f} points from
  it on average, and at worst {auc_worst:+.1f} ({auc_graph}).
- Spearman correlation of the ratio with what edges are worth, the accuracy of *always graph* minus that of *always
  features*: {correlation:.2f} over {judged} graphs. The other graphs give no evidence.
- Where edges are left out, as on Actor, AUC is what features and numbers of neighbors tell about edges.
- Floors have as many columns as the features, up to several thousand; the default method has {n_components}.
- The values around which constants are varied were found on these graphs, so the variants are not independent of the
  graph that is left out. The penalty of the classifier is selected on the nodes that are scored, for all columns alike.

## What each part is worth

The change in points, on average over the {graphs} graphs, and where the change of accuracy is largest.

| variant | accuracy | AUC | most is lost | most is gained |
|---|---|---|---|---|
"""


def _make_page(observations: Sequence[Observation]) -> str:
    chosen = {
        each.dataset: choose_variant([other for other in observations if other is not each]) for each in observations
    }
    gains = compare_with_floor({each.dataset: (each.accuracy, chosen[each.dataset]) for each in observations})
    now = compare_with_floor({each.dataset: (each.accuracy, PACKAGE) for each in observations})
    auc = compare_with_floor({each.dataset: (each.auc, chosen[each.dataset]) for each in observations if each.auc})
    rows = []
    for each in observations:
        name = chosen[each.dataset]
        figures = " | ".join(
            f"{100 * values[name]:.1f} | {100 * best_floor(values):.1f} | {difference[each.dataset]:+.1f}"
            if values
            else "– | – | –"
            for values, difference in ((each.accuracy, gains), (each.auc, auc))
        )
        rows.append(f"| {each.dataset} | {format_ratio(each.ratio)} | {each.choice} | {name} | {figures} |\n")
    judged = [each for each in observations if each.ratio is not None]
    worth = [each.accuracy[f"always {GRAPH}"] - each.accuracy[f"always {FEATURES}"] for each in judged]
    summary = _SUMMARY.format(
        gain=np.mean(list(gains.values())),
        worst=min(gains.values()),
        worst_graph=find_worst(gains),
        gain_now=np.mean(list(now.values())),
        worst_now=min(now.values()),
        worst_graph_now=find_worst(now),
        auc=np.mean(list(auc.values())),
        auc_worst=min(auc.values()),
        auc_graph=find_worst(auc),
        correlation=spearmanr([float(each.ratio or 0) for each in judged], worth).statistic,
        judged=len(judged),
        graphs=len(observations),
        n_components=N_COMPONENTS,
    )
    variants = "".join(_compare_variant(name, observations) for name in VARIANTS)
    return _INTRODUCTION.format(edges=MIN_EDGES, nodes=MAX_LINK_NODES) + "".join(rows) + summary + variants


def format_ratio(ratio: float | None) -> str:
    """Return a ratio as text."""
    return "thin evidence" if ratio is None else f"{ratio:.2f}"


def compare_with_floor(figures: Mapping[str, tuple[Mapping[str, float], str]]) -> dict[str, float]:
    """Return by how many points a variant differs from the best floor, for figures and the name of a variant."""
    return {dataset: 100 * (values[name] - best_floor(values)) for dataset, (values, name) in figures.items()}


def best_floor(figures: Mapping[str, float]) -> float:
    """Return the best figure of raw, smoothed and diffused features."""
    return max(figures[name] for name in FLOORS)


def find_worst(differences: Mapping[str, float]) -> str:
    """Return the name of the smallest difference."""
    return min(differences, key=lambda name: differences[name])


def _compare_variant(name: str, observations: Sequence[Observation]) -> str:
    if name == PACKAGE:
        return ""
    changes = {each.dataset: 100 * (each.accuracy[name] - each.accuracy[PACKAGE]) for each in observations}
    auc = 100 * np.mean([each.auc[name] - each.auc[PACKAGE] for each in observations if each.auc])
    extremes = (choose(changes, key=lambda graph: changes[graph]) for choose in (min, max))
    cells = " | ".join(f"{graph} {changes[graph]:+.1f}" for graph in extremes)
    return f"| {name} | {np.mean(list(changes.values())):+.2f} | {auc:+.2f} | {cells} |\n"


# -- the figure -------------------------------------------------------------------------------------------------------


def plot_weights(path: Path, observations: Sequence[Observation]) -> Path:
    """Draw the weight of each output by the ratio of a graph, and where the graphs that were measured are."""
    figure = new_figure(9.0, 4.6)
    axes = figure.add_subplot(1, 1, 1)
    low, high = min(RATIOS.values()) - 0.06, max(RATIOS.values()) + 0.06
    positions = np.linspace(low, high, 200)
    for number, (name, output) in enumerate(OUTPUTS.items()):
        style = ("-", "--", ":")[number % 3]
        axes.plot(positions, [interpolate(asdict(output.weights), each) for each in positions], style, label=name)
    for choice, ratio in RATIOS.items():
        axes.axvline(ratio, color="lightgray", linewidth=1, zorder=0)
        axes.text(ratio, -0.08, choice, ha="center", va="top", fontsize=8, color="gray")
    judged = sorted((np.clip(each.ratio, low, high), each.dataset) for each in observations if each.ratio is not None)
    for place, (_, dataset) in zip(_spread([ratio for ratio, _ in judged], high), judged, strict=True):
        axes.text(place, 1.04, dataset, rotation=90, ha="center", va="bottom", fontsize=7)
    axes.set(xlim=(low, high), ylim=(0, 1.02), ylabel="weight of the output")
    axes.set_xlabel("ratio: how informative edges are, compared with features", labelpad=14)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.subplots_adjust(top=0.76, bottom=0.16, left=0.07, right=0.87)
    return write_figure(figure, path)


def _spread(places: Sequence[float], highest: float, gap: float = 0.011) -> list[float]:
    """Move increasing numbers apart, so that names there can be read."""
    spread = list(places)
    for number in range(1, len(spread)):
        spread[number] = max(spread[number], spread[number - 1] + gap)
    limit = highest
    for number in reversed(range(len(spread))):
        spread[number] = limit = min(spread[number], limit)
        limit -= gap
    return spread
