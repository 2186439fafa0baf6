"""graphprox evaluate: how good an embedding is."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from graphprox._utils.defaults import ProtocolName
from graphprox._utils.stacklevel import warn
from graphprox._utils.strict_json import dump_json
from graphprox.cli.graph_source import GraphSource, reads_graph
from graphprox.cli.options import EMBEDDING_FILES, JsonOption
from graphprox.embedding import Embedding
from graphprox.errors import AssumedInputWarning, GraphError, ParameterError, StructuralFeaturesWarning
from graphprox.graph.splits import TEST_EDGES, VAL_EDGES
from graphprox.io.sql.queries import is_query

if TYPE_CHECKING:
    from graphprox.datasets import Dataset

MULTILABEL = "multilabel"
Options = dict[str, Any]
Scores = dict[str, list[float]]  # values of each score, one per split


@reads_graph()
def evaluate_embedding(
    source: GraphSource,
    path: Annotated[
        Path,
        typer.Option(
            "--embedding",
            metavar="EMB",
            help=f"File of the embedding: {EMBEDDING_FILES}.",
            show_default=False,
        ),
    ],
    task: Annotated[
        str, typer.Option("--task", metavar="NAME", help="classification, multilabel, links, clustering or similarity.")
    ] = "classification",
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            metavar="NAME",
            help=f"For classification: one of {', '.join(get_args(ProtocolName))}. [default: random]",
            show_default=False,
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            "--splits",
            metavar="N",
            min=1,
            help="For classification and multilabel: number of splits. [default: 10]",
            show_default=False,
        ),
    ] = None,
    first_split: Annotated[
        int | None,
        typer.Option(
            "--first-split",
            metavar="N",
            min=0,
            help="For classification and multilabel: random seed of the first split. [default: 0]",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="N",
            min=0,
            help="For links: the seed of holdout. For clustering: the seed of k-means. [default: 0]",
            show_default=False,
        ),
    ] = None,
    val: Annotated[
        float | None,
        typer.Option(
            "--val", metavar="SHARE", help=f"For links: as in holdout. [default: {VAL_EDGES}]", show_default=False
        ),
    ] = None,
    test: Annotated[
        float | None,
        typer.Option(
            "--test", metavar="SHARE", help=f"For links: as in holdout. [default: {TEST_EDGES}]", show_default=False
        ),
    ] = None,
    train: Annotated[
        float | None,
        typer.Option(
            "--train",
            metavar="SHARE",
            help="For multilabel: share of the labeled nodes to train on. [default: 0.5]",
            show_default=False,
        ),
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(
            "--separator",
            metavar="TEXT",
            help="For multilabel: what separates the labels in a cell. [default: a label per row]",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Evaluate an embedding: node classification, link prediction, clustering or similarity search.

    The embedding is aligned to the graph by node ids; a file without ids has a row per node, in the order of the nodes.

    Examples:

    - `graphprox evaluate Cora --data DIR --embedding emb.parquet --protocol public`
    - `graphprox evaluate edges.csv --labels topics.csv --embedding vectors.txt --splits 100 --json`
    - `graphprox evaluate Cora --embedding rest.parquet --task links --seed 0`
    - `graphprox evaluate edges.csv --embedding emb.parquet --task multilabel --labels groups.csv --train 0.1`
    - `graphprox evaluate Cora --embedding emb.npy --task clustering`
    """
    shares = {"val": val, "test": test, "train": train}
    options = _select_options(
        task, protocol=protocol, splits=splits, first_split=first_split, seed=seed, separator=separator, **shares
    )
    evaluate = TASKS[task].evaluate
    if task == MULTILABEL:  # the labels are read by the task, as a node has several
        options = {"labels": _check_labels(source), **options}
        queried = is_query(options["labels"])
        database = source.database if queried else None
        columns = {name: getattr(source, name) for name in ("header", "encoding", "id", "label")}
        evaluate = partial(_multilabel, **columns, database=database)
        # The column of ids remains that of the features, if there are some, and the database that of other queries.
        source = replace(source, labels=None, label=None, id=source.id if source.features else None)
        if queried and not is_query(source.name):
            source = replace(source, database=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuralFeaturesWarning)  # features are not used
        dataset = source.load()
    if TASKS[task].needs_labels and dataset.graph.y is None:
        raise GraphError(f"{task} needs a graph with labels; {source.name} has none: give --labels FILE")
    if TASKS[task].needs_labels and source.labels is not None:
        _warn_about_several_labels(dataset, source.labels)
    from graphprox.evaluation.alignment import align_to_graph

    embedding = Embedding.load(path, ids=dataset.graph.ids)
    vectors = align_to_graph(dataset.graph, embedding, name=str(path))
    scores = evaluate(dataset, vectors, options)
    about = {"graph": dataset.name, "embedding": str(path), "task": task, **options}
    if as_json:
        print(dump_json({**about, **_summarize(scores), "scores": scores}, indent=2))
    else:
        _print(about, scores)


# -- options of a task ----------------------------------------------------------------------------------------------


def _select_options(task: str, **given: Any) -> Options:
    """Return the options of a task, with defaults; reject those that it does not have."""
    if task not in TASKS:
        raise ParameterError(f"--task must be one of {', '.join(TASKS)}; got {task!r}")
    defaults = TASKS[task].options
    for name, value in given.items():
        if value is not None and name not in defaults:
            tasks = " or ".join(each for each, other in TASKS.items() if name in other.options)
            raise ParameterError(f"--{name.replace('_', '-')} needs --task {tasks}; got --task {task}")
    options = {name: default if given[name] is None else given[name] for name, default in defaults.items()}
    return _options_of_protocol(options, given) if "protocol" in options else options


def _check_labels(source: GraphSource) -> str:
    if source.labels is None:
        raise ParameterError("--task multilabel needs --labels FILE, of a node and a label per row; got none")
    return str(source.labels)


def _warn_about_several_labels(dataset: Dataset, path: str | Path) -> None:
    """Warn if most labels seem to be several ones in a cell."""
    from graphprox.io.label_sets import find_separator

    graph = dataset.graph
    if graph.y is None or graph.class_names is None:
        return
    cells = [graph.class_names[y] for y in graph.y.tolist() if y >= 0]
    separator = find_separator(cells)
    if separator is not None:
        example = next(cell for cell in cells if separator in cell)
        warn(
            f"most labels of {path} are such as {example!r}, and each is read as one class: if they are several, set "
            f'--task {MULTILABEL} --separator "{separator}"',
            AssumedInputWarning,
        )


def _options_of_protocol(options: Options, given: Options) -> Options:
    from graphprox.evaluation.protocols import get_protocol

    protocol = get_protocol(options["protocol"])
    if protocol.make_split is not None:
        return options
    if given["splits"] is not None or given["first_split"] is not None:
        raise ParameterError(
            f"--splits and --first-split must be left out with {protocol.name}, whose splits come with the data set"
        )
    return {"protocol": protocol.name}


# -- tasks ----------------------------------------------------------------------------------------------------------


def _classification(dataset: Dataset, vectors: Any, options: Options) -> Scores:
    from graphprox import evaluation

    scores: Scores = evaluation.classify(
        dataset,
        vectors,
        protocol=options["protocol"],
        n_splits=options.get("splits", 1),
        random_state=options.get("first_split", 0),
    ).to_dict()
    return scores


def _multilabel(dataset: Dataset, vectors: Any, options: Options, **columns: Any) -> Scores:
    from graphprox import evaluation
    from graphprox.io.label_sets import read_label_sets

    groups = read_label_sets(options["labels"], separator=options["separator"], **columns)
    return evaluation.classify_multilabel(
        dataset,
        vectors,
        groups.to_matrix(dataset.graph.ids),
        train_size=options["train"],
        n_splits=options["splits"],
        random_state=options["first_split"],
    ).to_dict()


def _links(dataset: Dataset, vectors: Any, options: Options) -> Scores:
    from graphprox import evaluation

    print(
        "note: the embedding should be that of the graph that `graphprox holdout` has written, with the same options "
        f"and --seed {options['seed']}: one that was trained on the held-out edges gives meaningless scores",
        file=sys.stderr,
    )
    shares = {"val": options["val"], "test": options["test"]}
    return _to_lists(evaluation.link_prediction(dataset, vectors, random_state=options["seed"], **shares).to_dict())


def _clustering(dataset: Dataset, vectors: Any, options: Options) -> Scores:
    from graphprox import evaluation

    return _to_lists(evaluation.clustering(dataset, vectors, random_state=options["seed"]).to_dict())


def _similarity(dataset: Dataset, vectors: Any, options: Options) -> Scores:  # noqa: ARG001 - as all tasks
    from graphprox import evaluation

    return _to_lists(evaluation.similarity(dataset, vectors).to_dict())


def _to_lists(scores: dict[str, float]) -> Scores:
    return {name: [value] for name, value in scores.items()}


@dataclass(frozen=True)
class _Task:
    evaluate: Callable[[Dataset, Any, Options], Scores]
    options: Options  # with their defaults
    needs_labels: bool = True


TASKS = {
    "classification": _Task(_classification, {"protocol": "random", "splits": 10, "first_split": 0}),
    MULTILABEL: _Task(
        _multilabel, {"train": 0.5, "separator": None, "splits": 10, "first_split": 0}, needs_labels=False
    ),
    "links": _Task(_links, {"seed": 0, "val": VAL_EDGES, "test": TEST_EDGES}, needs_labels=False),
    "clustering": _Task(_clustering, {"seed": 0}),
    "similarity": _Task(_similarity, {}),
}


# -- output ---------------------------------------------------------------------------------------------------------

_TITLES = {
    "accuracy": "accuracy",
    "roc_auc": "ROC-AUC",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "val_accuracy": "accuracy, validation",
    "auc": "AUC",
    "ap": "AP",
    "cosine_auc": "AUC by cosine",
    "cosine_ap": "AP by cosine",
    "val_auc": "AUC, validation",
    "val_ap": "AP, validation",
    "val_cosine_auc": "AUC by cosine, validation",
    "val_cosine_ap": "AP by cosine, validation",
    "nmi": "NMI",
    "ari": "ARI",
    "sim@5": "Sim@5",
    "sim@10": "Sim@10",
}


def _summarize(scores: Scores) -> dict[str, dict[str, float]]:
    """Return mean and standard deviation of every score that has a title; the mean penalty is not meaningful."""
    shown = {name: values for name, values in scores.items() if name in _TITLES}
    return {
        "mean": {name: float(np.mean(values)) for name, values in shown.items()},
        "std": {name: float(np.std(values)) for name, values in shown.items()},
    }


def _print(about: dict[str, Any], scores: Scores) -> None:
    summary = _summarize(scores)
    count = max(map(len, scores.values()))
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    for name, mean in summary["mean"].items():
        std = f" ± {100 * summary['std'][name]:.2f}" if count > 1 else ""
        table.add_row(_TITLES[name], f"{100 * mean:.2f}{std} %")
    console = Console(highlight=False, emoji=False, markup=False)
    console.print(_title(about, count), soft_wrap=True)  # a table would wrap it to the width of its columns
    console.print(table)


def _title(about: dict[str, Any], count: int) -> str:
    named = f"{about['embedding']}: {about['task']} on {about['graph']}"
    if about["task"] == "classification":
        first = f" from seed {about['first_split']}" if "first_split" in about else ""
        return f"{named}, {about['protocol']}, {count} split{'s' * (count != 1)}{first}"
    if about["task"] == MULTILABEL:
        splits = f"{count} split{'s' * (count != 1)} from seed {about['first_split']}"
        return f"{named} with {about['labels']}, {100 * about['train']:g} % training nodes, {splits}"
    return f"{named}, seed {about['seed']}" if "seed" in about else named
