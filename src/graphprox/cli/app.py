"""The program: its commands, and what it says when something goes wrong."""

from __future__ import annotations

import sys
import traceback
import warnings
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

import graphprox
from graphprox.cli.compare import compare
from graphprox.cli.curve import curve
from graphprox.cli.datasets import datasets
from graphprox.cli.demo import demo
from graphprox.cli.embed import embed, transform
from graphprox.cli.evaluate import evaluate
from graphprox.cli.holdout import holdout
from graphprox.cli.info import info
from graphprox.cli.methods import methods
from graphprox.cli.neighbours import neighbours
from graphprox.cli.report import report
from graphprox.cli.run import run
from graphprox.cli.tune import tune
from graphprox.cli.views import views
from graphprox.errors import GraphproxError, GraphproxWarning

OUR_ERROR, INTERRUPTED = 1, 130

app = typer.Typer(
    name="graphprox",
    help="Node embeddings without labels, from three kinds of proximity: edges, features, local structure.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(datasets)
app.command()(methods)
app.command()(info)
app.command()(views)
app.command()(embed)
app.command()(transform)
app.command()(compare)
app.command()(curve)
app.command()(tune)
app.command()(neighbours)
app.command("neighbors", hidden=True)(neighbours)
app.command()(evaluate)
app.command()(holdout)
app.command()(run)
app.command()(report)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"graphprox {graphprox.__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the program; a user's mistake ends it with 2, a fault of ours with 1, each in one sentence on stderr."""
    errors = Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", GraphproxWarning)
            warnings.showwarning = lambda message, *_, **__: errors.print(f"[yellow]warning:[/] {escape(str(message))}")
            app()
    except GraphproxError as error:
        _report(errors, str(error), error.exit_code)
    except KeyboardInterrupt:
        _report(errors, "interrupted", INTERRUPTED)
    except Exception as error:
        hint = "" if "--verbose" in sys.argv else "; --verbose shows where"
        _report(errors, f"a fault of graphprox, not yours: {type(error).__name__}: {error}{hint}", OUR_ERROR)


def _report(errors: Console, sentence: str, code: int) -> None:
    if "--verbose" in sys.argv:
        errors.print(escape(traceback.format_exc()))
    errors.print(f"[red]error:[/] {escape(' '.join(sentence.split()))}")
    sys.exit(code)
