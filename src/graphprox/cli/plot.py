"""graphprox plot: a map of an embedding in two dimensions."""

from __future__ import annotations

import time
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import pyarrow as pa
import typer
from rich.console import Console

from graphprox._utils.figures import check_figure, new_figure, write_figure
from graphprox._utils.progress import report_progress
from graphprox._utils.strict_json import dump_json
from graphprox.cli.graph_source import (
    DatabaseOption,
    DataOption,
    EncodingOption,
    HeaderOption,
    IdOption,
    TrustPicklesOption,
    parse_file_or_query,
)
from graphprox.cli.node_graph import EmbeddingArgument, NodeGraphOption, load_node_graph, name_classes
from graphprox.cli.options import JsonOption, SeedOption
from graphprox.cli.outputs import one_file, writes
from graphprox.cli.progress_display import progress_bars
from graphprox.embedding import Embedding
from graphprox.errors import ParameterError, ReadError
from graphprox.graph.graph import Graph
from graphprox.io.attributes import check_unique, read_labels
from graphprox.io.sql.queries import is_query, run_query
from graphprox.io.storage.files import ending
from graphprox.io.tables.column_choice import ChosenColumns, ColumnNames, Columns, assign_roles
from graphprox.io.tables.encodings import check_encoding
from graphprox.io.tables.node_columns import choose_id_column
from graphprox.io.tables.table import PARQUET_ENDINGS, TEXT_ENDINGS, Choose, Table, read_table, table_from_arrow
from graphprox.preprocessing.column_values import read_values
from graphprox.preprocessing.table_cells import CellError

if TYPE_CHECKING:
    from graphprox.visualization.embedding_map import EmbeddingMap


class Colors(NamedTuple):
    """Values by which nodes are colored.

    Attributes
    ----------
    ids : list of str
    values : pyarrow.Array of shape (n_values,)
        A value for each id.
    title : str
        What the values are.
    """

    ids: list[str]
    values: pa.Array
    title: str


class TextOptions(NamedTuple):
    """How text files are read."""

    header: bool | None = None
    encoding: str | None = None


@writes({"out": one_file, "points": one_file})
def plot_embedding(
    path: EmbeddingArgument,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The figure: .png, .svg or .pdf.")] = Path(
        "map.png"
    ),
    labels: Annotated[
        Any,
        typer.Option(
            "--labels",
            metavar="FILE",
            parser=parse_file_or_query,
            help="Classes or a table, joined by id, for the colors: a file or an SQL query.",
            show_default=False,
        ),
    ] = None,
    color: Annotated[
        str | None,
        typer.Option(
            "--color",
            metavar="COLUMN",
            help="Column of --labels that gives the colors, by name or number from 1.",
            show_default=False,
        ),
    ] = None,
    graph: NodeGraphOption = None,
    id: IdOption = None,  # noqa: A002 - as the column is named
    header: HeaderOption = None,
    encoding: EncodingOption = None,
    database: DatabaseOption = None,
    points: Annotated[
        Path | None,
        typer.Option(
            "--points", metavar="FILE", help="Also write the coordinates: .csv or .parquet.", show_default=False
        ),
    ] = None,
    perplexity: Annotated[
        float, typer.Option("--perplexity", metavar="N", help="Number of neighbors that count for each node.")
    ] = 30,
    max_nodes: Annotated[
        int, typer.Option("--max-nodes", metavar="N", help="A random sample of so many is drawn of more nodes.")
    ] = 200_000,
    seed: SeedOption = 0,
    data: DataOption = None,
    trust_pickles: TrustPicklesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Draw a map of an embedding: a point for every node, near for similar nodes.

    The map is made by t-SNE from the nearest nodes by cosine. Its trustworthiness at ten neighbors is printed, if there
    are at least 20 nodes: 1 if all neighbors in the map are neighbors in the embedding, about 0.5 for a random map.
    Fewer than ten nodes are placed by principal components. Distances between groups that are
    far apart have no meaning. The same command gives the same coordinates, bit by bit.

    Examples:

    - `graphprox plot vectors.parquet`
    - `graphprox plot vectors.parquet --labels topics.csv --out topics.svg`
    - `graphprox plot vectors.parquet --labels users.csv --color age --points users-map.csv`
    - `graphprox plot cora.parquet --graph Cora --data DIR`
    - `graphprox plot vectors.parquet --labels "SELECT id, age FROM users" --database social.duckdb`
    """
    start = time.perf_counter()
    from graphprox.visualization.embedding_map import FIGURE_SIZE, check_map_file, map_embedding
    from graphprox.visualization.tsne import check_extra

    check_figure(out)
    check_extra()
    if points is not None:
        check_map_file(points)
    text = TextOptions(header, check_encoding(encoding))
    _check_used(labels, graph, text, database=database, id=id)
    loaded = None if graph is None else _load_graph(graph, data, database, text, trust_pickles=trust_pickles)
    embedding = Embedding.load(path, ids=None if loaded is None else loaded.ids)
    colors = _read_colors(labels, color, loaded, text, database=database, id=id)
    with progress_bars(str(path)) as show, report_progress(show):
        found = map_embedding(embedding, perplexity=perplexity, max_nodes=max_nodes, random_state=seed)
    figure = new_figure(*FIGURE_SIZE, layout="constrained")
    chosen = None if colors is None else _align(colors, found.ids.tolist(), path)
    title = "" if colors is None else colors.title
    found.plot(chosen, ax=figure.add_subplot(), title=path.name, color_title=title)
    written = [write_figure(figure, out), *([] if points is None else [found.save(points)])]
    _print_summary(found, written, time.perf_counter() - start, as_json=as_json)


def _print_summary(found: EmbeddingMap, written: list[Path], seconds: float, *, as_json: bool) -> None:
    if as_json:
        trust = None if found.trustworthiness is None else round(found.trustworthiness, 4)
        about = {"nodes": len(found), "layout": found.layout, "trustworthiness": trust, "seconds": round(seconds, 2)}
        print(dump_json({"files": [str(each) for each in written], **about}, indent=2))
        return
    console = Console(highlight=False, emoji=False, markup=False, soft_wrap=True)
    console.print(f"{', '.join(map(str, written))}: {len(found):,} nodes, {seconds:.1f} s")
    if found.trustworthiness is not None:
        console.print(
            f"trust: {found.trustworthiness:.3f} at {found.n_neighbors} neighbors (1 if all neighbors in the map are "
            "neighbors in the embedding, 0.5 at random)"
        )


def _check_used(
    labels: Path | str | None,
    graph: str | None,
    text: TextOptions,
    *,
    database: Path | None,
    id: str | None,  # noqa: A002
) -> None:
    """Raise an error if an option was given that nothing would use."""
    if database is not None and not isinstance(labels, str) and (graph is None or not is_query(graph)):
        raise ParameterError("--database needs --labels or --graph to be an SQL query; got none: leave it out")
    given = "none" if labels is None else repr(str(labels))
    for name, value in text._asdict().items():
        if value is not None and not _is_text(labels) and not _is_text(graph):
            option = "--no-header" if value is False else f"--{name}"
            raise ParameterError(f"{option} needs --labels or --graph to be a text file; got {given}: leave it out")
    if id is not None and (labels is None or not _is_table(labels)):
        raise ParameterError(f"--id needs --labels to be a table, whose ids it names; got {given}: leave it out")


def _load_graph(
    graph: str, data: Path | None, database: Path | None, text: TextOptions, *, trust_pickles: bool
) -> Graph:
    database = database if is_query(graph) else None  # that of --labels
    text = text if _is_text(graph) else TextOptions()
    return load_node_graph(graph, data=data, database=database, trust_pickles=trust_pickles, **text._asdict())


# -- colors ---------------------------------------------------------------------------------------------------------


def _read_colors(
    labels: Path | str | None,
    column: str | None,
    graph: Graph | None,
    text: TextOptions,
    *,
    database: Path | None,
    id: str | None,  # noqa: A002
) -> Colors | None:
    if labels is None:
        if column is not None:
            raise ParameterError("--color needs a table that has the column; got none: give --labels FILE")
        if graph is None or graph.y is None:
            return None
        return _color_classes(name_classes(graph.ids.tolist(), graph.y.tolist(), graph.class_names))
    choose = partial(_choose_columns, names=ColumnNames(id=id), color=column)
    named = [name for name in (id, column) if name is not None and not name.isdecimal()]
    table = _read_color_table(labels, database, choose, named, text)
    if table is not None:
        return _color_by_table(table)
    if column is not None:
        raise ParameterError(f"--color needs a table, in CSV, TSV or Parquet; got {str(labels)!r}: leave it out")
    read = read_labels(Path(labels))
    return _color_classes(name_classes(read.ids.to_pylist(), read.y.tolist(), read.names))


def _color_classes(classes: dict[str, str]) -> Colors:
    return Colors([*classes], pa.array(classes.values(), pa.string()), "class")


def _color_by_table(table: Table) -> Colors:
    """Read the column of colors by the rules for columns of features."""
    ids, *columns = table.columns
    title = next(each.name for each in table.taken if each.role == "label")
    if len(columns) > 1:
        raise ParameterError(f"color must be a column of {table.path} with a value per node; {title!r} is one of lists")
    check_unique(ids, f"a node must have one label; {table.path} has", table=table)
    try:
        values = read_values(title, columns[0])
    except CellError as error:
        raise table.locate(error, 1) from None
    return Colors(list(map(str, ids.to_pylist())), values, title)


def _read_color_table(
    labels: Path | str, database: Path | None, choose: Choose, named: Collection[str], text: TextOptions
) -> Table | None:
    """Read a table or query; return None for a file of arrays."""
    kinds: dict[str, Any] = {"ids": 1, "values": None, "features": True}
    if isinstance(labels, str):
        return table_from_arrow("the query", run_query(labels, database), choose=choose, **kinds)
    if _is_table(labels):
        kinds["values"] = pa.string() if _is_text(labels) else None
        return read_table(labels, choose=choose, named=named, **kinds, **text._asdict())
    return None


def _is_table(labels: Path | str) -> bool:
    return isinstance(labels, str) or ending(labels) in TEXT_ENDINGS + PARQUET_ENDINGS


def _is_text(path: Path | str | None) -> bool:
    return path is not None and not is_query(path) and ending(Path(path)) in TEXT_ENDINGS


def _align(colors: Colors, ids: list[Any], path: Path) -> pa.Array:
    row_of = dict(zip(colors.ids, range(len(colors.ids)), strict=True))
    rows = pa.array([row_of.get(str(node)) for node in ids], pa.int64())
    if rows.null_count == len(rows):
        given = next(iter(colors.ids), "none")
        raise ParameterError(f"colors must be of nodes of {path}, such as {ids[0]!r}; got {given!r}: check the ids")
    return colors.values.take(rows)


def _choose_columns(columns: Columns, *, names: ColumnNames, color: str | None) -> ChosenColumns:
    """Choose the columns of ids and of colors."""
    ids = choose_id_column(columns, names)
    if color is not None:
        found = columns.find("color", color)
        if found == ids:
            raise ParameterError(f"color must be another column of {columns.path} than the ids; got {color!r}")
    else:
        others = [i for i in range(columns.size) if i != ids and not columns.is_index(i)]
        if not others:
            raise ReadError(f"each row of {columns.path} must contain an id and a value; it contains the id alone")
        if len(others) > 1:
            listed = ", ".join(columns.describe(i) for i in others[:5]) + ", …" * (len(others) > 5)
            raise ParameterError(f"{columns.path} has several columns, {listed}: select one with --color")
        found = others[0]
    return assign_roles(columns, "labels", [(ids, "id"), (found, "label")])
