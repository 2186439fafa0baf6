"""The argument GRAPH, and the options by which a command reads a graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import MISSING, dataclass, field, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from graphprox.cli.options import complete_dataset
from graphprox.cli.progress_display import show_stage
from graphprox.datasets import Dataset, load
from graphprox.errors import ParameterError
from graphprox.io.sql.queries import is_query

if TYPE_CHECKING:
    from graphprox.preprocessing.table_encoder import TableEncoder

GraphArgument = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="Name of a data set, pyg:CLASS:NAME for another one of PyG, a file, a graph folder, or an SQL query for "
        "the edges.",
        autocompletion=complete_dataset,
        show_default=False,
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        envvar="GRAPHPROX_DATA",
        help="Directory of data sets, read only. Without it they are downloaded.",
        show_default=False,
    ),
]


def parse_file_or_query(text: str | Path) -> Path | str:
    """Return a path, or a query as it was given: a Path would shorten the // of a division."""
    return str(text) if is_query(text) else Path(text)


FeaturesOption = Annotated[
    Any,
    typer.Option(
        "--features",
        metavar="FILE",
        parser=parse_file_or_query,
        help="Features, joined by node id: CSV, TSV, Parquet, NPZ, NPY or svmlight; or an SQL query.",
        show_default=False,
    ),
]
LabelsOption = Annotated[
    Any,
    typer.Option(
        "--labels",
        metavar="FILE",
        parser=parse_file_or_query,
        help="Labels, in the same formats.",
        show_default=False,
    ),
]
DatabaseOption = Annotated[
    Path | None,
    typer.Option(
        "--database",
        metavar="FILE",
        help="DuckDB or SQLite file for SQL queries, which only read. [default: queries read files]",
        show_default=False,
    ),
]
DirectedOption = Annotated[
    bool | None,
    typer.Option(
        "--directed/--undirected",
        help="Whether the edges of a file are directed. [default: undirected, unless the file records it]",
        show_default=False,
    ),
]
HeaderOption = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first row of a text file names its columns. [default: detected]",
        show_default=False,
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Encoding of text files, such as cp1252. [default: UTF-8, UTF-16 if marked, or else Windows-1252]",
        show_default=False,
    ),
]
TrustPicklesOption = Annotated[
    bool,
    typer.Option(
        "--trust-pickles",
        help="Load pickles of a pyg: data set that could run code. Only for files whose author you trust.",
        show_default=False,
    ),
]


def _column_option(name: str, meaning: str) -> Any:
    return Annotated[
        str | None,
        typer.Option(name, metavar="COLUMN", help=f"{meaning} [default: found by its name]", show_default=False),
    ]


SourceOption = _column_option("--source", "Column of the edges that an edge starts from, by name or number from 1.")
TargetOption = _column_option("--target", "Column of the edges that an edge leads to.")
WeightOption = _column_option("--weight", "Column of the edges with their weights.")
IdOption = _column_option("--id", "Column of features and labels with the node ids.")
LabelOption = _column_option("--label", "Column of the labels with the class.")
KindOption = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="COLUMN=KIND",
        help="What a column of the features contains, if its cells do not show it: number, category (as codes are), "
        "boolean, date, or ignored to leave it out; can be repeated. [default: found by its cells]",
        show_default=False,
    ),
]
IdsOption = Annotated[
    bool | None,
    typer.Option(
        "--ids/--no-ids",
        help="Whether tables of features and labels have a column of ids; if not, row i belongs to node i, from 0, and "
        "text files may have any ending. [default: ids]",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class GraphSource:
    """A graph as given on the command line."""

    name: str
    features: Path | str | None = None
    labels: Path | str | None = None
    database: Path | None = None
    directed: bool | None = None
    header: bool | None = None
    encoding: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    id: str | None = None
    label: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    ids: bool | None = None
    data: Path | None = None
    trust_pickles: bool = False

    def load(self, *, encoder: TableEncoder | None = None) -> Dataset:
        """Load the graph; a fitted embedder knows the encoder of its features."""
        options = {each.name: getattr(self, each.name) for each in fields(self)}
        with show_stage(self.name, "reading"):
            return load(options.pop("name"), **options, encoder=encoder)


def parse_kinds(texts: list[str] | None) -> dict[str, str]:
    """Return the kinds of columns that ``--kind COLUMN=KIND`` gives.

    Parameters
    ----------
    texts : list of str or None

    Examples
    --------
    >>> parse_kinds(["zip=category", "3=ignored"])
    {'zip': 'category', '3': 'ignored'}
    """
    kinds: dict[str, str] = {}
    for text in texts or ():
        name, equals, kind = text.rpartition("=")
        if not equals or not name:
            raise ParameterError(f"--kind must be COLUMN=KIND, as in --kind zip=category; got {text!r}")
        if name in kinds:
            raise ParameterError(f"--kind must be given once for a column; got two for {name!r}")
        kinds[name] = kind
    return kinds


def reads_graph(*, labels: bool = True, kinds: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the argument GRAPH and the options for reading it.

    The command's parameter ``source`` receives them as a `GraphSource`. The options come after its own.

    Parameters
    ----------
    labels : bool, default=True
        Whether there is an option for labels.
    kinds : bool, default=True
        Whether there is one for the kinds of columns, which a fitted model knows.
    """
    options: dict[str, Any] = {
        "features": FeaturesOption,
        "labels": LabelsOption,
        "database": DatabaseOption,
        "directed": DirectedOption,
        "header": HeaderOption,
        "encoding": EncodingOption,
        "source": SourceOption,
        "target": TargetOption,
        "weight": WeightOption,
        "id": IdOption,
        "label": LabelOption,
        "kinds": KindOption,
        "ids": IdsOption,
        "data": DataOption,
        "trust_pickles": TrustPicklesOption,
    }
    if not labels:
        del options["labels"], options["label"]
    if not kinds:
        del options["kinds"]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def wrapper(**given: Any) -> None:
            chosen = {name: given.pop(name) for name in options}
            source = GraphSource(given.pop("graph"), **{**chosen, "kinds": parse_kinds(chosen.get("kinds"))})
            command(source=source, **given)

        hints = get_type_hints(command, include_extras=True)
        own = [
            each.replace(annotation=hints[each.name], kind=inspect.Parameter.KEYWORD_ONLY)
            for each in inspect.signature(command).parameters.values()
            if each.name != "source"
        ]
        keyword = inspect.Parameter.KEYWORD_ONLY
        graph = inspect.Parameter("graph", keyword, annotation=GraphArgument)
        default = {each.name: None if each.default is MISSING else each.default for each in fields(GraphSource)}
        added = [
            inspect.Parameter(name, keyword, default=default[name], annotation=_with_panel(each, "Reading the graph"))
            for name, each in options.items()
        ]
        wrapper.__signature__ = inspect.Signature([graph, *own, *added])  # type: ignore[attr-defined]
        wrapper.__annotations__ = {}
        return wrapper

    return decorate


def _with_panel(option: Any, title: str) -> Any:
    """Return an option that the help text lists under a separate title."""
    kind, declared = get_args(option)
    declared = copy(declared)
    declared.rich_help_panel = title
    return Annotated[kind, declared]
