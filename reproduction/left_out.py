"""What a new user can expect of the default method: its rule, chosen without the graph it is applied to.

The rule of :mod:`graphprox.auto.selection` has two constants, between which a graph keeps both its edges and its
features. For each graph they are chosen by all the others, and the choice they make for the graph that was left out is
compared with the best one. Accuracies are those of validation nodes, on splits that no table reports.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from graphprox import AutoEmbedder, DiffusedFeatures, GraphEmbedder, RawFeatures, SmoothedFeatures, load, random_split
from graphprox.auto.selection import BOTH, FEATURES, GRAPH, MAX_RATIO, MIN_RATIO
from graphprox.datasets.catalog import CATALOG
from graphprox.errors import DatasetError
from graphprox.evaluation import LinearProbe
from graphprox.evaluation.inputs import get_labels
from graphprox.graph.graph import Graph
from graphprox.graph.structural import has_informative_features
from graphprox.io.files import atomic_write

FIRST_SPLIT = 1000  # splits of the tables begin at 0
NUM_SPLITS, FEW_SPLITS, LARGE = 10, 3, 10_000
CHOICES = (GRAPH, FEATURES, BOTH)
FLOORS: Mapping[str, type[GraphEmbedder]] = {
    "raw": RawFeatures,
    "smoothed": SmoothedFeatures,
    "diffused": DiffusedFeatures,
}
GRID = tuple(round(0.5 + 0.01 * step, 2) for step in range(101))


@dataclass(frozen=True)
class Observation:
    """What was measured on one graph.

    Parameters
    ----------
    dataset : str
    nodes : int
    ratio : float or None
        What edges explain of held-out features, divided by what features do; None if the evidence is thin.
    chosen : str
        Choice of the default method as it is.
    accuracy : mapping of str to float
        Validation accuracy of each choice and of each floor.
    """

    dataset: str
    nodes: int
    ratio: float | None
    chosen: str
    accuracy: Mapping[str, float]

    @property
    def best_floor(self) -> float:
        """Accuracy of the best of raw, smoothed and diffused features."""
        return max(self.accuracy[name] for name in FLOORS)

    def regret(self, choice: str) -> float:
        """Return how much less accurate a choice is than the best one."""
        return max(self.accuracy[each] for each in CHOICES) - self.accuracy[choice]


def observe_graph(name: str, graph: Graph) -> Observation:
    """Measure all choices and all floors on one graph."""
    embedder = AutoEmbedder().fit(graph)
    selection = embedder.selection_
    methods: dict[str, GraphEmbedder] = {choice: AutoEmbedder(keep=choice) for choice in CHOICES}
    methods |= {floor: cls() for floor, cls in FLOORS.items()}
    accuracy = {key: _val_accuracy(graph, method) for key, method in methods.items()}
    accuracy[selection.choice] = _val_accuracy(graph, embedder)  # whose weights depend on the scores
    return Observation(name, graph.num_nodes, selection.ratio, selection.choice, accuracy)


def _val_accuracy(graph: Graph, method: GraphEmbedder) -> float:
    vectors, labels = method.fit_transform(graph), get_labels(graph)
    probe, count = LinearProbe(), NUM_SPLITS if graph.num_nodes < LARGE else FEW_SPLITS
    splits = (random_split(graph, random_state=FIRST_SPLIT + number) for number in range(count))
    return float(np.mean([probe.evaluate(vectors, labels, split).val_accuracy for split in splits]))


def observe_catalog(path: Path, data: Path | None) -> Iterator[Observation]:
    """Measure all labeled graphs with features that are available, and write each result as it comes.

    Parameters
    ----------
    path : Path
        JSON Lines; graphs that it contains are not measured again.
    data : Path or None
        Folder of data sets.

    Yields
    ------
    Observation
    """
    known = {each.dataset: each for each in read_observations(path)}
    for name in ("synthetic", *CATALOG):
        if name in known:
            yield known[name]
            continue
        try:
            graph = load(name, data=data).graph
        except DatasetError:
            continue
        if graph.y is not None and has_informative_features(graph):
            observed = observe_graph(name, graph)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(observed)) + "\n")
            yield observed


def read_observations(path: Path) -> list[Observation]:
    """Read the observations of a file, none if it does not exist."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Observation(**json.loads(line)) for line in lines]


# -- the rule ---------------------------------------------------------------------------------------------------------


def apply_rule(ratio: float | None, limits: tuple[float, float]) -> str:
    """Return the choice for a graph by two limits of its ratio, as :mod:`graphprox.auto.selection` makes it."""
    if ratio is None:
        return BOTH
    return GRAPH if ratio >= limits[1] else FEATURES if ratio < limits[0] else BOTH


def fit_rule(observations: Sequence[Observation]) -> tuple[float, float]:
    """Return the limits with the smallest mean regret; of several, those in the middle.

    Parameters
    ----------
    observations : sequence of Observation

    Returns
    -------
    tuple of float
    """
    pairs = [(low, high) for low, high in itertools.product(GRID, GRID) if low <= high]
    regrets = np.array(
        [np.mean([each.regret(apply_rule(each.ratio, pair)) for each in observations]) for pair in pairs]
    )
    ties = [pair for pair, regret in zip(pairs, regrets, strict=True) if regret <= regrets.min() + 1e-9]
    low, high = (float(np.median([pair[place] for pair in ties])) for place in (0, 1))
    return low, high


def write_page(path: Path, observations: Sequence[Observation]) -> Path:
    """Write the table of results on graphs that were left out."""
    with atomic_write(path) as (temporary,):
        temporary.write_text(_make_page(observations), encoding="utf-8")
    return path


_INTRODUCTION = """\
<!-- Generated by `python -m reproduction left-out`: do not edit. -->

# What to expect on a new graph

The default method decides by two limits of a ratio whether the edges of a graph are used. Here the limits are chosen
for each graph by all the others, and applied to the one that was left out. Accuracy in percent of validation nodes,
with a tenth of the nodes for training; the splits are others than those of all tables. The command is
`python -m reproduction left-out`.

| graph | ratio | limits by the others | choice | accuracy | best choice | best floor | difference |
|---|---|---|---|---|---|---|---|
"""

_SUMMARY = """
- The best floor is the best of raw, smoothed and diffused features. On average the rule chosen without the graph
  is {gain:+.1f} points from it, at worst {worst:+.1f}. It is {regret:.1f} points below the best of its three choices,
  at worst {most:.1f}.
- On {agreements} of {graphs} graphs the rule without the graph makes the choice that the package makes, whose limits
  are {low} and {high}.
- Spearman correlation of the ratio with what edges are worth, the accuracy of *graph* minus that of *features*:
  {correlation:.2f} over {judged} graphs.
- With the limits of the package, the worst is {worst_now:+.1f} points.
- The weights of outputs and the exponents of the preparation were chosen on the same graphs, by hand, and not anew for
  each of them. A choice that the package does not make for a graph is measured by `keep`, whose weights do not depend
  on the ratio. The penalty of the classifier is selected on the nodes that are scored, for all columns alike.
"""


def _make_page(observations: Sequence[Observation]) -> str:
    rows, gains, regrets, agreements = [], [], [], 0
    for left_out in observations:
        limits = fit_rule([each for each in observations if each is not left_out])
        choice = apply_rule(left_out.ratio, limits)
        accuracy, best = left_out.accuracy[choice], max(left_out.accuracy[each] for each in CHOICES)
        gains.append(accuracy - left_out.best_floor)
        regrets.append(left_out.regret(choice))
        agreements += choice == left_out.chosen
        ratio = "thin evidence" if left_out.ratio is None else f"{left_out.ratio:.2f}"
        rows.append(
            f"| {left_out.dataset} | {ratio} | {limits[0]:.2f}, {limits[1]:.2f} | {choice} | {100 * accuracy:.1f} | "
            f"{100 * best:.1f} | {100 * left_out.best_floor:.1f} | {100 * gains[-1]:+.1f} |\n"
        )
    judged = [each for each in observations if each.ratio is not None]
    worth = np.array([(each.ratio, each.accuracy[GRAPH] - each.accuracy[FEATURES]) for each in judged], float)
    summary = _SUMMARY.format(
        gain=100 * np.mean(gains),
        worst=100 * min(gains),
        regret=100 * np.mean(regrets),
        worst_now=100 * min(each.accuracy[each.chosen] - each.best_floor for each in observations),
        most=100 * max(regrets),
        agreements=agreements,
        graphs=len(observations),
        low=MIN_RATIO,
        high=MAX_RATIO,
        correlation=spearmanr(worth[:, 0], worth[:, 1]).statistic,
        judged=len(judged),
    )
    return _INTRODUCTION + "".join(rows) + summary
