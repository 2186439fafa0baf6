"""Sentences about wrong arguments, in the words of the command line."""

from __future__ import annotations

import re
import shlex
from typing import Any

from graphprox._utils.renamed import RENAMED_OPTIONS
from graphprox._utils.suggestions import did_you_mean
from graphprox.errors import ParameterError

# Options whose name is not that of the parameter which messages of the library begin with.
_OPTIONS = {
    "n_components": "--dim",
    "encoder.n_components": "--dim",
    "random_state": "--seed",
    "n_splits": "--splits",
    "train_size": "--train",
    "kinds": "--kind",
}
_PHRASES = {
    ": give y": ": give --labels FILE",
    ", a RandomState, a Generator or None": "",
    ": set resume=True to continue from there": ": --resume continues from there",
    "set overwrite=True in place of resume=True": "give --force in place of --resume",
    "set resume=True to continue it": "give --resume to continue it",
    "set overwrite=True to replace it": "give --force to replace it",
    "resume and overwrite must not be set both; got True for both": "--resume and --force must not be given both",
    ": fit it with a split": ": see graphprox compare",
    ": call save of a fitted embedder": ": make one with graphprox embed --model",
    "set data or ": "set --data or ",
    "set trust_pickles=True if": "add --trust-pickles if",
    "trust_pickles can": "--trust-pickles can",
    ": header=False reads": ": --no-header reads",
    ": header=True reads": ": --header reads",
    " and ids=False": " and --no-ids",
    ": set source, target or weight to take other columns, or to confirm these": (
        ": --source, --target and --weight take other columns, or confirm these"
    ),
    ": set source and target to take other columns, or to confirm these": (
        ": --source and --target take other columns, or confirm these"
    ),
    ", or labels to this table too": "",
    ": set kinds to 'ignored' for what is a class": ": --kind COLUMN=ignored leaves out what is a class",
    ", or name the index, as in frame.rename_axis('id'), to take it": "",
    ": set weight=3 to confirm it": ": --weight 3 confirms it",
    ": set weight=3 to take it nevertheless": ": --weight 3 takes it nevertheless",
    ": change train_size": ": change --train",
    ": set encoding to read it as another": ": --encoding NAME reads it as another",
    ", or set encoding to read it as another": ", or give --encoding NAME to read it as another",
    ": set another encoding": ": give another --encoding",
    ": set id to take another column": ": --id takes another column",
    ": set label to select one": ": select one with --label",
    "kinds can only be": "--kind can only be",
}
# What sets the kind of a column, whatever its name.
_KIND = re.compile(r"(set )?kinds=\{(?P<name>'[^']*'|\"[^\"]*\"): '(?P<kind>\w+)'\}")
_SEPARATOR = re.compile(r"set separator='(.)'")
# What other programs call `--kind`.
_KINDS = {
    **dict.fromkeys(("--drop", "--exclude", "--ignore", "--skip"), "ignored"),
    **{f"--{kind}": kind for kind in ("category", "number", "boolean", "date")},
    "--categorical": "category",
    "--numeric": "number",
}


def to_command_line(sentence: str, arguments: list[str]) -> str:
    """Return a sentence of the library with the options that were given in place of parameters.

    Parameters
    ----------
    sentence : str
    arguments : list of str
        The arguments of the program.

    Examples
    --------
    >>> to_command_line("n_components must be a positive integer; got 0", ["embed", "Cora", "--dim", "0"])
    '--dim must be a positive integer; got 0'
    """
    for phrase, replacement in _PHRASES.items():
        sentence = sentence.replace(phrase, replacement)
    sentence = _KIND.sub(_to_kind_option, sentence)
    sentence = _SEPARATOR.sub(r'set --separator "\1"', sentence)
    names, must, rest = sentence.partition(" must ")
    options = [_OPTIONS.get(name, f"--{name.replace('_', '-')}") for name in names.split(" + ")]
    given = {argument.partition("=")[0] for argument in arguments}
    return f"{' + '.join(options)}{must}{rest}" if must and given.intersection(options) else sentence


def _to_kind_option(found: re.Match[str]) -> str:
    verb = "use " if found[1] else ""
    return f"{verb}--kind {shlex.quote(found['name'][1:-1] + '=' + found['kind'])}"


def is_usage_error(error: Exception) -> bool:
    """Return whether an error is one of click, which typer includes in some versions and depends on in others."""
    return hasattr(error, "format_message") and hasattr(error, "exit_code")


def describe_usage_error(error: Any) -> str:
    """Return click's error as one sentence; an empty one if help was printed in its place.

    Parameters
    ----------
    error : ClickException
    """
    if type(error).__name__ == "NoArgsIsHelpError":
        return ""
    context = getattr(error, "ctx", None)
    program = "graphprox" if context is None else context.command_path
    if hasattr(error, "possibilities") and context is not None:
        return _describe_unknown_option(error.option_name, context, program)
    message: str = error.format_message().rstrip(".").replace(". Did you mean", "; did you mean")
    hint = "" if message.endswith("?") else f"; see {program} --help"
    return message[:1].lower() + message[1:] + hint


def _describe_unknown_option(option: str, context: Any, program: str) -> str:
    known = [name for each in context.command.params for name in (*each.opts, *each.secondary_opts) if name[0] == "-"]
    if option == "--labels":
        return f"{program} has no option --labels, as it ignores labels: use graphprox evaluate --labels FILE"
    if "--kind" in known and option in _KINDS:
        return f"{program} has no option {option}: use --kind COLUMN={_KINDS[option]}"
    if option == "--kind" and "--model" in known:
        return f"{program} has no option --kind, as the model knows the kinds of columns: leave it out"
    hint = did_you_mean(option, known, otherwise=f"see {program} --help").replace("'", "")
    return f"{program} has no option {option}; {hint}"


def check_spelling(arguments: list[str]) -> None:
    """Raise a `ParameterError` if an option has its name of version 0.1, or is global and follows the command."""
    for argument in arguments:
        option = argument.partition("=")[0]
        if option == "--":
            return
        if option in RENAMED_OPTIONS:
            raise ParameterError(f"{option} was renamed to {RENAMED_OPTIONS[option]} in version 0.2")
    if "--verbose" in arguments and _follows_command(arguments, "--verbose"):
        raise ParameterError("--verbose must come before the command since version 0.2: graphprox --verbose COMMAND")
    if "--quiet" in arguments and _follows_command(arguments, "--quiet"):
        raise ParameterError("--quiet must come before the command: graphprox --quiet COMMAND")


def _follows_command(arguments: list[str], option: str) -> bool:
    return any(not each.startswith("-") for each in arguments[: arguments.index(option)])
