"""graphprox evaluate: how good an embedding is."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from graphprox.arrays import IntArray
from graphprox.cli.holdout import TEST, VALIDATION
from graphprox.cli.options import (
    DataOption,
    DirectedOption,
    FeaturesOption,
    GraphArgument,
    HeaderOption,
    JsonOption,
    LabelsOption,
    VerboseOption,
)
from graphprox.cli.progress import shown_progress
from graphprox.datasets import Dataset
from graphprox.errors import GraphError, ParameterError, StructuralFeaturesWarning
from graphprox.io.embedding_files import read_embedding
from graphprox.loading import load

Run = dict[str, float]  # the figures of one split, or of one seed
Options = dict[str, Any]


def evaluate(
    graph: GraphArgument,
    embedding: Annotated[
        Path,
        typer.Option(
            "--embedding",
            metavar="EMB",
            help="An embedding from anywhere: .parquet, .csv, .npy, .npz, .txt (word2vec) or .tsv.",
            show_default=False,
        ),
    ],
    task: Annotated[
        str, typer.Option("--task", help="classification, links, clustering or similarity.")
    ] = "classification",
    protocol: Annotated[
        str | None,
        typer.Option("--protocol", help="Of classification: random, public, compat or descent.", show_default="random"),
    ] = None,
    splits: Annotated[
        int | None, typer.Option("--splits", min=1, help="Over how many splits.", show_default="10")
    ] = None,
    first_split: Annotated[
        int | None, typer.Option("--first-split", min=0, help="The seed of the first of them.", show_default="0")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            help="Of links, the seed that holdout had; of clustering, that of k-means.",
            show_default="0",
        ),
    ] = None,
    validation: Annotated[
        float | None,
        typer.Option("--validation", help="Of links: the share that holdout had.", show_default=str(VALIDATION)),
    ] = None,
    test: Annotated[
        float | None, typer.Option("--test", help="Of links: the share that holdout had.", show_default=str(TEST))
    ] = None,
    features: FeaturesOption = None,
    labels: LabelsOption = None,
    directed: DirectedOption = None,
    header: HeaderOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Measure an embedding: how well a plain model tells classes or edges by it, how far its clusters are the classes.

    The embedding is joined to the graph by ids; a file without ids has a row per node, in the order of the nodes.

    Examples:

    - `graphprox evaluate Cora --data DIR --embedding emb.parquet --protocol public`
    - `graphprox evaluate edges.csv --labels topics.csv --embedding vectors.txt --splits 100 --json`
    - `graphprox evaluate Cora --embedding rest.parquet --task links --seed 0`
    - `graphprox evaluate Cora --embedding emb.npy --task clustering`
    """
    chosen = _chosen(
        task,
        protocol=protocol,
        splits=splits,
        first_split=first_split,
        seed=seed,
        validation=validation,
        test=test,
    )
    loaded = _loaded(graph, data=data, features=features, labels=labels, directed=directed, header=header)
    if TASKS[task].needs_labels and loaded.graph.y is None:
        raise GraphError(f"{task} needs a graph with labels; {graph} has none: give --labels FILE")

    from graphprox.evaluation.matching import vectors_of_nodes

    vectors = vectors_of_nodes(loaded.graph, read_embedding(embedding, ids=loaded.graph.ids), name=str(embedding))
    runs = TASKS[task].runs(loaded, vectors, chosen)
    about = {"graph": loaded.name, "embedding": str(embedding), "task": task, **chosen}
    if as_json:
        print(json.dumps({**about, **_summary(runs), "runs": runs}, indent=2))
    else:
        _print(about, runs)


def _loaded(graph: str, **options: Any) -> Dataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuralFeaturesWarning)  # features play no part here
        return load(graph, **options)


# -- which options go with which task -------------------------------------------------------------------------------


def _chosen(task: str, **given: Any) -> Options:
    """The options of a task, defaults for those that are not given; refused are those that it has no use for."""
    if task not in TASKS:
        raise ParameterError(f"--task must be one of {', '.join(TASKS)}; got {task!r}")
    defaults = TASKS[task].options
    for name, value in given.items():
        if value is not None and name not in defaults:
            users = " or ".join(each for each, its in TASKS.items() if name in its.options)
            raise ParameterError(f"--{name.replace('_', '-')} must go with --task {users}; got it with --task {task}")
    chosen = {name: default if given[name] is None else given[name] for name, default in defaults.items()}
    return _of_protocol(chosen, given) if "protocol" in chosen else chosen


def _of_protocol(chosen: Options, given: Options) -> Options:
    from graphprox.evaluation.protocols import PROTOCOLS

    name = chosen["protocol"]
    if name not in PROTOCOLS:
        raise ParameterError(f"--protocol must be one of {', '.join(PROTOCOLS)}; got {name!r}")
    if PROTOCOLS[name].draw is not None:
        return chosen
    if given["splits"] is not None or given["first_split"] is not None:
        raise ParameterError(
            f"--splits and --first-split must be left out with {name}, whose splits come with the data"
        )
    return {"protocol": name}


# -- the tasks ------------------------------------------------------------------------------------------------------


def _classification(dataset: Dataset, vectors: NDArray[Any], chosen: Options) -> list[Run]:
    from graphprox.evaluation.protocols import PROTOCOLS

    protocol = PROTOCOLS[chosen["protocol"]]
    splits = protocol.splits(dataset, chosen.get("splits", 1), chosen.get("first_split", 0))
    runs = []
    with shown_progress(dataset.name) as show:
        for done, split in enumerate(splits):
            show("splits", done, len(splits))
            runs.append(asdict(protocol.probe(vectors, _labels(dataset), split)))
    return runs


def _links(dataset: Dataset, vectors: NDArray[Any], chosen: Options) -> list[Run]:
    from graphprox.evaluation.links import link_scores
    from graphprox.splits import edge_split

    print(
        f"note: the embedding should be of what `graphprox holdout` writes for this graph, with the same options and "
        f"--seed {chosen['seed']}: one that has seen the held-out edges measures nothing",
        file=sys.stderr,
    )
    return [dict(link_scores(vectors, edge_split(dataset.graph, **chosen)))]


def _clustering(dataset: Dataset, vectors: NDArray[Any], chosen: Options) -> list[Run]:
    from graphprox.evaluation.clustering import cluster

    return [asdict(cluster(vectors, _labels(dataset), **chosen))]


def _similarity(dataset: Dataset, vectors: NDArray[Any], chosen: Options) -> list[Run]:  # noqa: ARG001 - as the others
    from graphprox.evaluation.similar import similarity_scores

    return [{f"sim@{k}": score for k, score in similarity_scores(vectors, _labels(dataset)).items()}]


def _labels(dataset: Dataset) -> IntArray:
    assert dataset.graph.y is not None  # noqa: S101 - evaluate has asked
    return dataset.graph.y


@dataclass(frozen=True)
class _Task:
    runs: Callable[[Dataset, NDArray[Any], Options], list[Run]]
    options: Options  # and their defaults
    needs_labels: bool = True


TASKS = {
    "classification": _Task(_classification, {"protocol": "random", "splits": 10, "first_split": 0}),
    "links": _Task(_links, {"seed": 0, "validation": VALIDATION, "test": TEST}, needs_labels=False),
    "clustering": _Task(_clustering, {"seed": 0}),
    "similarity": _Task(_similarity, {}),
}


# -- what is shown --------------------------------------------------------------------------------------------------

_TITLES = {
    "accuracy": "accuracy",
    "macro_f1": "macro F1",
    "validation_accuracy": "accuracy, validation",
    "auc": "AUC",
    "ap": "AP",
    "cosine_auc": "AUC by cosine",
    "cosine_ap": "AP by cosine",
    "validation_auc": "AUC, validation",
    "validation_ap": "AP, validation",
    "validation_cosine_auc": "AUC by cosine, validation",
    "validation_cosine_ap": "AP by cosine, validation",
    "nmi": "NMI",
    "ari": "ARI",
    "sim@5": "Sim@5",
    "sim@10": "Sim@10",
}


def _summary(runs: list[Run]) -> dict[str, dict[str, float]]:
    """Mean and deviation over the runs of every figure that has a title: that of a penalty's strength says nothing."""
    values = {name: [run[name] for run in runs] for name in runs[0] if name in _TITLES}
    return {
        "mean": {name: float(np.mean(each)) for name, each in values.items()},
        "deviation": {name: float(np.std(each)) for name, each in values.items()},
    }


def _print(about: dict[str, Any], runs: list[Run]) -> None:
    summary = _summary(runs)
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    for name, mean in summary["mean"].items():
        deviation = f" ± {100 * summary['deviation'][name]:.2f}" if len(runs) > 1 else ""
        table.add_row(_TITLES[name], f"{100 * mean:.2f}{deviation} %")
    console = Console(highlight=False, emoji=False, markup=False)
    console.print(_title(about, len(runs)), soft_wrap=True)  # a table would fold it to the width of the figures
    console.print(table)


def _title(about: dict[str, Any], count: int) -> str:
    named = f"{about['embedding']}: {about['task']} on {about['graph']}"
    if about["task"] == "classification":
        seeds = f" from seed {about['first_split']}" if "first_split" in about else ""
        return f"{named}, {about['protocol']}, {count} split{'s' * (count != 1)}{seeds}"
    return f"{named}, seed {about['seed']}" if "seed" in about else named
