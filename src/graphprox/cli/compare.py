"""graphprox compare: several methods on one graph, side by side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from rich.console import Console
from rich.table import Table

from graphprox._utils.defaults import AUTO, ProtocolName
from graphprox._utils.progress import report_progress
from graphprox._utils.strict_json import dump_json
from graphprox.cli.demo import NO_FIGURE, has_matplotlib
from graphprox.cli.graph_source import GraphSource, reads_graph
from graphprox.cli.options import FirstSplitOption, JsonOption, ScaleOption, SeedOption, check_scale
from graphprox.cli.outputs import figures, writes
from graphprox.cli.progress_display import progress_bars
from graphprox.errors import ParameterError
from graphprox.io.storage.files import make_writable_folder

if TYPE_CHECKING:
    from graphprox.model_selection import MethodResult

USUAL, RANDOM = "usual", "random"
MAX_WIDTH = 1000  # characters: more than the table needs, whose columns would be cut in a narrow terminal


@reads_graph()
@writes({"out": figures("compare")})
def compare_methods(
    source: GraphSource,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            metavar="NAMES",
            help="Methods separated by commas, `all`, or `usual` for a few of each kind; can be repeated. "
            "[default: usual]",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            metavar="|".join(get_args(ProtocolName)),
            help="How accuracy is measured, with labels. [default: random]",
            show_default=False,
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            "--splits",
            metavar="N",
            min=1,
            help="Number of random splits, with labels. [default: 10]",
            show_default=False,
        ),
    ] = None,
    first_split: FirstSplitOption = 0,
    links: Annotated[
        bool | None,
        typer.Option(
            "--links/--no-links",
            help="Whether held-out edges are ranked, which trains each method once more. [default: without labels]",
            show_default=False,
        ),
    ] = None,
    scale: ScaleOption = AUTO,
    seed: SeedOption = 0,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the figure.")] = Path("compare"),
    as_json: JsonOption = False,
) -> None:
    """Compare methods on one graph: accuracy or, without labels, held-out edges; seconds and memory; and which to take.

    Accuracy is that of a logistic regression on test nodes; semi-supervised methods are trained on each split. Without
    labels a tenth of the edges is held out: link AUC is the probability that such an edge ranks above a pair without
    one, neighborhood the share of a node's ten nearest by cosine that are its neighbors in the graph, out of those
    that could be: all ten, or all neighbors of a node that has fewer. Each method is trained once, with the preset of
    the data set if it has one. A method that fails is reported, and does not stop the others; if the command is
    interrupted, the methods that are done are printed.

    Examples:

    - `graphprox compare synthetic`
    - `graphprox compare Cora --data DIR --methods dgi,grace,ft-gcl --splits 3`
    - `graphprox compare edges.csv --features words.npz --labels classes.csv --methods all --out figures`
    """
    from graphprox.evaluation.protocols import get_protocol
    from graphprox.model_selection import compare, plot_comparison, select_methods, summarize_comparison
    from graphprox.model_selection.comparison import DEFAULT_METHODS

    folder = make_writable_folder(out)
    # An invalid name is reported before anything is read.
    get_protocol(RANDOM if protocol is None else protocol)
    given = [name.strip() for each in methods or [USUAL] for name in each.split(",")]
    names = [name for each in given for name in (DEFAULT_METHODS if each == USUAL else [each])]
    select_methods(names)
    how = check_scale(scale)
    dataset = source.load()
    if dataset.graph.y is None:
        _check_unused({"--protocol": protocol, "--splits": splits})
    splitting: dict[str, Any] = {
        "protocol": RANDOM if protocol is None else protocol,
        "n_splits": 10 if splits is None else splits,
        "first_split": first_split,
    }
    results: list[MethodResult] = []
    errors = Console(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True)
    try:
        with progress_bars(source.name) as show, report_progress(show):
            for result in compare(dataset, names, random_state=seed, scale=how, links=links, **splitting):
                results.append(result)
                if result.failure:
                    errors.print(f"{result.title}: {result.failure}")
    finally:  # what is done is not lost when a later method is interrupted
        if results and not as_json:
            Console(highlight=False, emoji=False, markup=False, width=MAX_WIDTH).print(_table(results))
    advice = summarize_comparison(results, dataset)
    if not as_json:
        print(*advice, sep="\n", end="\n" if advice else "")
    # The results are printed first, so that an error in plotting does not lose them.
    paths = plot_comparison(folder, results, dataset.name) if has_matplotlib() else []
    if as_json:
        summary = {"graph": dataset.name, "seed": seed, "methods": [each.to_dict() for each in results]}
        print(dump_json({**summary, "advice": advice, "files": list(map(str, paths))}, indent=2))
        return
    print(*(map(str, paths) if paths else [NO_FIGURE]), sep="\n")


def _check_unused(options: dict[str, Any]) -> None:
    """Raise an error if an option was given that only has a meaning with labels."""
    for name, value in options.items():
        if value is not None:
            raise ParameterError(
                f"{name} needs a graph with labels; this one has none: give --labels FILE, or leave {name} out"
            )


# Columns of scores, and the text of each; a column is shown if a method has such a score.
_SCORES: dict[str, tuple[str, Callable[[MethodResult], str]]] = {
    "accuracy": ("accuracy", lambda each: _percent(each.accuracy, each.std)),
    "macro_f1": ("macro-F1", lambda each: _percent(each.macro_f1)),
    "roc_auc": ("ROC-AUC", lambda each: _percent(each.roc_auc)),
    "link_auc": ("link AUC", lambda each: _percent(each.link_auc)),
    "neighborhood": ("neighborhood", lambda each: _percent(each.neighborhood)),
}


def _table(results: list[MethodResult]) -> Table:
    shown = [name for name in _SCORES if any(getattr(each, name) is not None for each in results)]
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("method", no_wrap=True)
    for column in [*(_SCORES[name][0] for name in shown), "seconds", "memory"]:
        table.add_column(column, justify="right", no_wrap=True)
    for each in sorted(results, key=lambda each: -(each.accuracy or each.link_auc or 0)):
        seconds = "failed" if each.seconds is None else f"{each.seconds:.1f}"
        memory = "–" if each.peak_memory is None else f"{each.peak_memory / 1e6:,.0f} MB"
        table.add_row(each.title, *(_SCORES[name][1](each) for name in shown), seconds, memory)
    return table


def _percent(mean: float | None, std: float | None = None) -> str:
    if mean is None:
        return "–"
    return f"{100 * mean:.1f}" + ("" if std is None else f" ± {100 * std:.1f}") + " %"
