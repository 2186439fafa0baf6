"""The program: its commands, and how it reports errors."""

from __future__ import annotations

import io
import sys
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from itertools import takewhile
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

import graphprox
from graphprox._utils.amounts import format_memory
from graphprox._utils.memory import available_memory, is_out_of_memory
from graphprox._utils.renamed import RENAMED_COMMANDS
from graphprox.cli import ranks
from graphprox.cli.compare import compare_methods
from graphprox.cli.curve import show_curve
from graphprox.cli.datasets import list_datasets
from graphprox.cli.demo import run_demo
from graphprox.cli.embed import embed_graph
from graphprox.cli.evaluate import evaluate_embedding
from graphprox.cli.holdout import hold_out_edges
from graphprox.cli.info import show_info
from graphprox.cli.methods import list_methods
from graphprox.cli.neighbors import find_neighbors
from graphprox.cli.new_folders import forget_new_folders, remove_new_folders
from graphprox.cli.plot import plot_embedding
from graphprox.cli.progress_display import set_quiet
from graphprox.cli.shard import write_graph_folder
from graphprox.cli.signals import INTERRUPTED, describe_stop, is_stopped, stop_code
from graphprox.cli.transform import transform_graph
from graphprox.cli.tune import tune_settings
from graphprox.cli.usage import check_spelling, describe_usage_error, is_usage_error, to_command_line
from graphprox.cli.views import write_views
from graphprox.errors import GraphproxError, GraphproxWarning, ParameterError

INTERNAL_ERROR, USAGE_ERROR = 1, 2
# What each command may be asked for that needs less memory.
_SMALLER = {
    "embed": "use a smaller --dim or another method, of which --dry-run forecasts what they need",
    "compare": "compare other --methods, of which graphprox embed --dry-run forecasts what they need",
    "plot": "use a smaller --max-nodes",
    "neighbors": "use an embedding of fewer components",
    "evaluate": "use an embedding of fewer components",
}

app = typer.Typer(
    name="graphprox",
    help="Node embeddings without labels, from three kinds of proximity: edges, features, local structure.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(run_demo)
app.command("datasets")(list_datasets)
app.command("methods")(list_methods)
app.command("info")(show_info)
app.command("views")(write_views)
app.command("embed")(embed_graph)
app.command("transform")(transform_graph)
app.command("compare")(compare_methods)
app.command("tune")(tune_settings)
app.command("curve")(show_curve)
app.command("neighbors")(find_neighbors)
app.command("plot")(plot_embedding)
app.command("evaluate")(evaluate_embedding)
app.command("holdout")(hold_out_edges)
app.command("shard")(write_graph_folder)


def _print_version(requested: bool) -> None:
    if requested:
        print(f"graphprox {graphprox.__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    verbose: Annotated[  # noqa: ARG001 - read by run_program
        bool, typer.Option("--verbose", help="Show the traceback of an error.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print neither progress nor forecasts; results and warnings remain.")
    ] = False,
) -> None:
    set_quiet(quiet or not ranks.is_first())


def main() -> None:
    """Run the program.

    Exits with code 2 after a user error and with 1 after an internal error, with one sentence on stderr.
    """
    try:
        run_program(_run_app)
    finally:
        ranks.wait_for_others()


def _run_app(**options: Any) -> Any:
    arguments = sys.argv[1:]
    with ranks.join_if_several(arguments):
        _check_arguments(arguments)
        return app(**options)


def _check_arguments(arguments: list[str]) -> None:
    command = next((each for each in arguments if not each.startswith("-")), None)
    if command is not None and command in RENAMED_COMMANDS:
        raise ParameterError(f"the command {command!r} was renamed to {RENAMED_COMMANDS[command]!r} in version 0.2")
    check_spelling(arguments)


def run_program(
    program: Callable[..., Any], *, name: str = "graphprox", check: Callable[[list[str]], None] = lambda _: None
) -> None:
    """Run a command line, and report warnings and errors in one sentence each.

    Parameters
    ----------
    program : callable
        A typer application.
    name : str
        Name of the program in messages.
    check : callable
        Called with the arguments first.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of files need not be text, nor fit the encoding of a terminal
            stream.reconfigure(errors="backslashreplace")
    errors = Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)
    forget_new_folders()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", GraphproxWarning)
            warnings.showwarning = partial(_show_warning, errors)
            check(sys.argv[1:])
            code = program(standalone_mode=False, prog_name=name) or 0
        remove_new_folders()  # a dry run writes nothing
        if code == INTERRUPTED:  # typer has caught a KeyboardInterrupt
            _report(errors, describe_stop(), stop_code())
        sys.exit(code)
    except (KeyboardInterrupt, typer.Abort):
        _report(errors, describe_stop(), stop_code())
    except Exception as error:
        if is_out_of_memory(error):
            _report(errors, _describe_memory(), USAGE_ERROR)
        if isinstance(error, GraphproxError):
            _report(errors, to_command_line(str(error), sys.argv[1:]), error.exit_code)
        if is_stopped():  # a library has turned the interruption into an error of its own
            _report(errors, describe_stop(), stop_code())
        if is_usage_error(error):
            _report(errors, describe_usage_error(error), USAGE_ERROR)
        hint = "" if _is_verbose() else "; --verbose shows the traceback"
        _report(errors, f"internal error of graphprox: {type(error).__name__}: {error}{hint}", INTERNAL_ERROR)


def _describe_memory() -> str:
    available = available_memory()
    amount = "is available" if available is None else f"the {format_memory(available)} that are available"
    command = next((each for each in sys.argv[1:] if not each.startswith("-")), "")
    remedy = _SMALLER.get(command, "use a part of the graph")
    return f"memory ran out: the work must not need more than {amount}; {remedy}, or a machine with more memory"


def _is_verbose() -> bool:
    return "--verbose" in takewhile(lambda argument: argument.startswith("-"), sys.argv[1:])


def _show_warning(errors: Console, message: Warning | str, *_: object, **__: object) -> None:
    if ranks.is_first():
        errors.print(f"[yellow]warning:[/] {escape(to_command_line(str(message), sys.argv[1:]))}")


def _report(errors: Console, sentence: str, code: int) -> None:
    remove_new_folders()
    if sentence and not ranks.may_print():
        sys.exit(code)
    if _is_verbose():
        errors.print(escape(traceback.format_exc()))
    if sentence:
        errors.print(f"[red]error:[/] {escape(' '.join(sentence.split()))}")
    sys.exit(code)
