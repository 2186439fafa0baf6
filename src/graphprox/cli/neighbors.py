"""graphprox neighbors: the most similar nodes of given ones, by an embedding."""

from __future__ import annotations

import csv
import io
import itertools
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from graphprox._utils.strict_json import dump_json
from graphprox.cli.graph_source import DataOption, TrustPicklesOption
from graphprox.cli.node_graph import EmbeddingArgument, NodeGraphOption, load_node_graph, name_classes
from graphprox.cli.options import JsonOption
from graphprox.cli.outputs import one_file, writes
from graphprox.embedding import Embedding
from graphprox.errors import ParameterError
from graphprox.graph.graph import Graph
from graphprox.io.attributes import read_labels
from graphprox.io.storage.files import atomic_write
from graphprox.similarity_search import METRICS

STDIN = "-"


@writes({"out": one_file}, creates_parents=False)
def find_neighbors(
    path: EmbeddingArgument,
    nodes: Annotated[
        list[str],
        typer.Argument(metavar="NODE", help="Ids of nodes; - reads them from stdin, one per line.", show_default=False),
    ],
    k: Annotated[int, typer.Option("-k", "--k", metavar="N", min=1, help="Number of neighbors.")] = 10,
    metric: Annotated[
        str, typer.Option("--metric", metavar="|".join(METRICS), help="Similarity or distance.")
    ] = "cosine",
    graph: NodeGraphOption = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE", help="Classes from a file, joined by id.", show_default=False),
    ] = None,
    data: DataOption = None,
    trust_pickles: TrustPicklesOption = False,
    as_json: JsonOption = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Also write to a .csv or .json file.", show_default=False),
    ] = None,
) -> None:
    """Show the most similar nodes of each given node, by its vector in an embedding.

    Examples:

    - `graphprox neighbors vectors.parquet ann bob -k 5`
    - `graphprox neighbors cora.npy 42 --graph Cora --data DIR`
    - `graphprox neighbors vectors.txt - --metric euclidean --out near.csv < names.txt`
    - `graphprox neighbors vectors.csv --json -- -3`
    """
    if out is not None:
        _check_ending(out)
    reading = {"data": data, "labels": labels, "trust_pickles": trust_pickles}
    loaded = None if graph is None else load_node_graph(graph, **reading)
    embedding = Embedding.load(path, ids=None if loaded is None else loaded.ids)
    queries = _to_ids(_read_names(nodes), embedding)
    neighbors = embedding.nearest(queries, k=min(k, max(1, embedding.num_nodes - 1)), metric=metric)
    classes = _classes(loaded, labels)
    found = [
        _describe(query, zip(ids, scores, strict=True), classes)
        for query, ids, scores in zip(queries, neighbors.ids.tolist(), neighbors.scores.tolist(), strict=True)
    ]
    if out is not None:
        with atomic_write(out) as (staged,):
            staged.write_text(_FORMATS[out.suffix.lower()](found), encoding="utf-8", newline="")
    if as_json:
        print(_to_json(found), end="")
    else:
        _print(found, score="distance" if metric == "euclidean" else metric)


def _check_ending(out: Path) -> None:
    if out.suffix.lower() not in _FORMATS:
        raise ParameterError(f"the ending of --out must be one of {', '.join(_FORMATS)}; got {out.name!r}")


# -- nodes ----------------------------------------------------------------------------------------------------------


def _read_names(nodes: list[str]) -> list[str]:
    """Return the ids as they were given, with those from stdin in place of the dash."""
    given = itertools.chain.from_iterable(_read_stdin() if node == STDIN else [node] for node in nodes)
    # Bytes that are not valid text cannot be part of an id.
    return [node.encode(errors="replace").decode() for node in given]


def _read_stdin() -> list[str]:
    lines = sys.stdin.buffer.read().decode(errors="replace").split("\n")
    names = [line.rstrip("\r") for line in lines if line.strip()]
    if not names:
        raise ParameterError(f"{STDIN} needs ids on stdin, one per line; got none")
    return names


def _to_ids(names: list[str], embedding: Embedding) -> list[Any]:
    if embedding.ids.dtype == object:
        return list(names)
    return [int(name) if re.fullmatch(r"-?[1-9][0-9]*|0", name) else name for name in names]


# -- classes --------------------------------------------------------------------------------------------------------


def _classes(graph: Graph | None, labels: Path | None) -> dict[str, str] | None:
    """Return the class of each node by its id, None if there are no classes."""
    if graph is not None and graph.y is not None:
        return name_classes(graph.ids.tolist(), graph.y.tolist(), graph.class_names)
    if graph is None and labels is not None:
        read = read_labels(labels)
        return name_classes(read.ids.to_pylist(), read.y.tolist(), read.names)
    return None


def _class_of(node: Any, classes: dict[str, str] | None) -> dict[str, str | None]:
    return {} if classes is None else {"class": classes.get(str(node))}


# -- output ---------------------------------------------------------------------------------------------------------


def _describe(query: Any, neighbors: Iterable[tuple[Any, float]], classes: dict[str, str] | None) -> dict[str, Any]:
    listed = [{"node": node, "score": score, **_class_of(node, classes)} for node, score in neighbors]
    return {"node": query, **_class_of(query, classes), "neighbors": listed}


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
    table.add_column("neighbor", overflow="fold")
    table.add_column(score, justify="right", no_wrap=True)
    if has_classes:
        table.add_column("class", overflow="fold")
    for each in row["neighbors"]:
        cells = [str(each["node"]), f"{each['score']:.4f}"]
        table.add_row(*cells, *([each["class"] or "-"] if has_classes else []))
    return table


def _to_json(found: list[dict[str, Any]]) -> str:
    return dump_json(found, indent=2) + "\n"


def _to_csv(found: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["node", "rank", "neighbor", "score", *(["class"] if "class" in found[0] else [])])
    for row in found:
        for rank, each in enumerate(row["neighbors"], start=1):
            rows.writerow([row["node"], rank, *each.values()])
    return text.getvalue()


_FORMATS = {".csv": _to_csv, ".json": _to_json}
