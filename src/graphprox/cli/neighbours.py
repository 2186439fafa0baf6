"""graphprox neighbours: the most similar nodes of given ones, by an embedding."""

from __future__ import annotations

import csv
import difflib
import io
import itertools
import json
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table

from graphprox.arrays import IntArray, NodeIds
from graphprox.cli.options import DataOption, JsonOption, VerboseOption
from graphprox.embedding import Embedding
from graphprox.errors import ParameterError, StructuralFeaturesWarning
from graphprox.graph import UNKNOWN_LABEL, Graph
from graphprox.io.attributes import NodeLabels, read_labels
from graphprox.io.embedding_files import read_embedding
from graphprox.io.files import written_whole
from graphprox.io.ids import positions
from graphprox.loading import load
from graphprox.similarity import METRICS, Neighbours, nearest

_FROM_STDIN = "-"
_LOOKED_AT = 50_000  # ids in which one is sought that was meant: more would take seconds


def neighbours(
    embedding: Annotated[
        Path,
        typer.Argument(
            metavar="EMB", help="An embedding: .parquet, .csv, .npy, .npz, .txt (word2vec) or .tsv.", show_default=False
        ),
    ],
    nodes: Annotated[
        list[str],
        typer.Argument(metavar="NODE", help="Ids of nodes; - reads them from stdin, a line each.", show_default=False),
    ],
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="How many neighbours to show.")] = 10,
    metric: Annotated[str, typer.Option("--metric", metavar="|".join(METRICS), help="What nearness is.")] = "cosine",
    graph: Annotated[
        str | None,
        typer.Option(
            "--graph",
            metavar="GRAPH",
            help="The graph whose nodes these are: it tells their classes, and their ids where EMB has none.",
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE", help="Classes from a file, joined by id.", show_default=False),
    ] = None,
    data: DataOption = None,
    as_json: JsonOption = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write to a .csv or .json file as well.", show_default=False),
    ] = None,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Show the most similar nodes of each named node, by its vector in an embedding.

    Examples:

    - `graphprox neighbours vectors.parquet ann bob -k 5`
    - `graphprox neighbours cora.npy 42 --graph Cora --data DIR`
    - `graphprox neighbours vectors.txt - --metric euclidean --out near.csv < names.txt`
    - `graphprox neighbours vectors.csv --json -- -3`
    """
    if out is not None:
        _check_ending(out)
    loaded = None if graph is None else _loaded(graph, data=data, labels=labels)
    read = read_embedding(embedding, ids=None if loaded is None else loaded.ids)
    queries = _found(embedding, read, _named(nodes))
    near = nearest(read, queries, k=min(k, max(1, read.num_nodes - 1)), metric=metric)
    found = _as_dicts(read, queries, near, _classes(loaded, labels))
    if out is not None:
        with written_whole(out) as (staged,):
            staged.write_text(_WRITTEN[out.suffix.lower()](found), encoding="utf-8", newline="")
    if as_json:
        print(_json(found), end="")
    else:
        _print(found, score="distance" if metric == "euclidean" else metric)


def _check_ending(out: Path) -> None:
    if out.suffix.lower() not in _WRITTEN:
        raise ParameterError(f"the ending of --out must be one of {', '.join(_WRITTEN)}; got {out.name!r}")


# -- which nodes are meant ------------------------------------------------------------------------------------------


def _named(nodes: list[str]) -> list[str]:
    """The ids as they were given, those from stdin in the place of the mark for it."""
    given = itertools.chain.from_iterable(_from_stdin() if node == _FROM_STDIN else [node] for node in nodes)
    return [_sound(node) for node in given]


def _from_stdin() -> list[str]:
    lines = sys.stdin.buffer.read().decode(errors="replace").split("\n")
    ids = [line.rstrip("\r") for line in lines if line.strip()]
    if not ids:
        raise ParameterError(f"for {_FROM_STDIN} there must be ids on stdin, one on each line; none came")
    return ids


def _sound(node: str) -> str:
    """The id without bytes that are no text, which no embedding's ids have either."""
    return node.encode(errors="replace").decode()


def _found(path: Path, embedding: Embedding, named: list[str]) -> IntArray:
    """The numbers of the nodes that have these ids."""
    found = positions(pa.array(named, pa.string()), pa.array(embedding.ids))
    for name, number in zip(named, found.tolist(), strict=True):
        if number < 0:
            raise ParameterError(f"{path} has no node {name!r}; {_did_you_mean(name, embedding)}")
    return found


def _did_you_mean(name: str, embedding: Embedding) -> str:
    """A question that names the nearest id; where none is near, what the ids are like."""
    if embedding.ids.dtype != object:
        return f"its ids are whole numbers in {embedding.ids.min()}..{embedding.ids.max()}"
    by_lower = {each.lower(): each for each in embedding.ids[::-1].tolist()}
    alike = [each for each in by_lower if abs(len(each) - len(name)) <= 2]
    alike.sort(key=lambda each: each[:2] != name[:2].lower())  # those that begin alike come first
    near = difflib.get_close_matches(name.lower(), alike[:_LOOKED_AT], n=1)
    if near:
        return f"did you mean {by_lower[near[0]]!r}?"
    return f"its ids are such as {', '.join(map(repr, embedding.ids[:3].tolist()))}"


# -- what class they are of -----------------------------------------------------------------------------------------


def _loaded(graph: str, *, data: Path | None, labels: Path | None) -> Graph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuralFeaturesWarning)  # features play no part here
        return load(graph, data=data, labels=labels).graph


def _classes(graph: Graph | None, labels: Path | None) -> NodeLabels | None:
    if graph is None:
        return None if labels is None else read_labels(labels)
    return None if graph.y is None else NodeLabels(pa.array(graph.ids), graph.y, graph.class_names)


def _said_of(ids: NodeIds, classes: NodeLabels | None) -> list[dict[str, str | None]]:
    """The class of each id by its name, None where the id or its class is unknown; nothing where no classes are."""
    if classes is None:
        return [{}] * len(ids)
    # Position -1, where an id is not found, is that of the class that is appended.
    numbers = np.append(classes.y, UNKNOWN_LABEL)[positions(pa.array(ids), classes.ids)].tolist()
    names = classes.names
    return [{"class": None if y == UNKNOWN_LABEL else str(y) if names is None else names[y]} for y in numbers]


# -- what is shown --------------------------------------------------------------------------------------------------


def _as_dicts(
    embedding: Embedding, queries: IntArray, near: Neighbours, classes: NodeLabels | None
) -> list[dict[str, Any]]:
    """Each node with its neighbours, nearest first."""
    shown = np.column_stack([queries, near.nodes])
    ids = embedding.ids[shown].tolist()
    said = iter(_said_of(embedding.ids[shown.ravel()], classes))
    rows = []
    for (node, *others), scores in zip(ids, near.scores.tolist(), strict=True):
        row = {"node": node, **next(said)}
        listed = [{"node": each, "score": score, **next(said)} for each, score in zip(others, scores, strict=True)]
        rows.append({**row, "neighbours": listed})
    return rows


def _print(found: list[dict[str, Any]], *, score: str) -> None:
    console = Console(highlight=False, emoji=False, markup=False)
    for i, row in enumerate(found):
        if i:
            console.print()
        console.print(_table(row, score=score))


def _table(row: dict[str, Any], *, score: str) -> Table:
    has_classes = "class" in row
    title = f"{row['node']} ({row['class'] or '-'})" if has_classes else str(row["node"])
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("neighbour", overflow="fold")
    table.add_column(score, justify="right", no_wrap=True)
    if has_classes:
        table.add_column("class", overflow="fold")
    for each in row["neighbours"]:
        cells = [str(each["node"]), f"{each['score']:.4f}"]
        table.add_row(*cells, *([each["class"] or "-"] if has_classes else []))
    return table


def _json(found: list[dict[str, Any]]) -> str:
    return json.dumps(found, indent=2) + "\n"


def _csv(found: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    names = ["node", "rank", "neighbour", "score", *(["class"] if "class" in found[0] else [])]
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(names)
    for row in found:
        for rank, each in enumerate(row["neighbours"], start=1):
            rows.writerow([row["node"], rank, *each.values()])
    return text.getvalue()


_WRITTEN = {".csv": _csv, ".json": _json}
