"""Options that several commands share, apart from those for reading a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from graphprox._utils.defaults import AUTO, DEFAULT_METHOD, DEFAULT_TRAINED_METHOD
from graphprox.datasets import CATALOG
from graphprox.errors import ParameterError
from graphprox.preprocessing.scaling import SCALES, ScaleName

# -- completion -----------------------------------------------------------------------------------------------------


def _filter_by_prefix(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.lower().startswith(incomplete.lower())]


def complete_dataset(incomplete: str) -> list[str]:
    """Complete the name of a data set; files are completed by the shell itself."""
    return _filter_by_prefix([*CATALOG, "synthetic"], incomplete)


def complete_method(incomplete: str) -> list[str]:
    """Complete the name of a method, without importing torch, which takes seconds."""
    from graphprox.methods import METHODS

    return _filter_by_prefix(METHODS.peek(), incomplete)


def complete_preset(context: typer.Context, incomplete: str) -> list[str]:
    """Complete the name of a preset of the method that was given before."""
    from graphprox.methods import METHODS

    defaults = {each.name: each.default for each in context.command.params}
    found = METHODS.get(str(context.params.get("method", defaults.get("method"))))
    return _filter_by_prefix([AUTO, *(found.preset_names() if found else ())], incomplete)


# -- methods and their settings -------------------------------------------------------------------------------------

MethodOption = Annotated[
    str,
    typer.Option(
        "--method", metavar="NAME", help="A method that `graphprox methods` lists.", autocompletion=complete_method
    ),
]
PresetOption = Annotated[
    str,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="Settings for a data set; auto uses those of GRAPH, if there are any.",
        autocompletion=complete_preset,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a setting, as in `--set temperature=0.2`; can be repeated. `graphprox methods NAME` lists them.",
        show_default=False,
    ),
]
DimOption = Annotated[
    int | None,
    typer.Option(
        "--dim",
        metavar="N",
        help="Size of the embedding; what is more than auto can find in a graph is filled with zeros. "
        "[default: that of the method or preset]",
        show_default=False,
    ),
]
EpochsOption = Annotated[
    int | None,
    typer.Option(
        "--epochs", metavar="N", help="Number of epochs. [default: that of the method or preset]", show_default=False
    ),
]
ScaleOption = Annotated[
    str,
    typer.Option(
        "--scale",
        metavar="|".join(SCALES),
        help="Whether columns of features are standardized: those of tables, all, or none.",
    ),
]

# Names that --set rejects because there is an option for them.
_OPTIONS = {
    "random_state": "--seed",
    "seed": "--seed",
    "preset": "--preset",
    "method": "--method",
    "name": "--method",
    "dataset": "GRAPH",
}


def parse_setting(text: str, *, options: Mapping[str, str] = _OPTIONS) -> tuple[str, Any]:
    """Return name and value of ``NAME=VALUE``.

    Parameters
    ----------
    text : str
    options : mapping of str to str
        Names that are rejected, and the option to use for each.
    """
    from graphprox._utils.toml import parse_override

    name, value = parse_override(text)
    if name in options:
        raise ParameterError(f"a setting must not be {name!r}; use {options[name]} instead")
    return name, value


def collect_settings(
    changes: list[str] | None,
    *,
    method: str = DEFAULT_METHOD,
    dim: int | None = None,
    epochs: int | None = None,
    scale: str = AUTO,
    options: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the settings that ``--set``, ``--dim``, ``--epochs`` and ``--scale`` give; options take precedence.

    Parameters
    ----------
    changes : list of str, optional
        Settings as ``NAME=VALUE``.
    method : str
        Name of the method, which must have what ``dim`` and ``epochs`` set.
    dim, epochs : int, optional
    scale : str
    options : mapping of str to str, optional
        Further names that ``--set`` must not change, and the option for each.
    """
    settings = dict(parse_setting(each, options={**_OPTIONS, **(options or {})}) for each in changes or ())
    for option, name, value in (("--dim", "n_components", dim), ("--epochs", "epochs", epochs)):
        if value is not None:
            _check_has(method, name, option)
            settings[name] = value
    if check_scale(scale) != AUTO:
        settings["scale"] = scale
    return settings


def check_scale(scale: str) -> ScaleName:
    """Return the value of ``--scale``; raise a `ParameterError` unless it is valid."""
    for each in SCALES:
        if each == scale:
            return each
    raise ParameterError(f"--scale must be one of {', '.join(SCALES)}; got {scale!r}")


def _check_has(method: str, name: str, option: str) -> None:
    from graphprox.methods import METHODS

    if name not in METHODS.lookup(method).parameters():
        raise ParameterError(
            f"{option} needs a method that has the setting {name}, such as --method {DEFAULT_TRAINED_METHOD}; {method} "
            "has none: leave it out, or name such a method"
        )


# -- others ---------------------------------------------------------------------------------------------------------

# Formats of embeddings, for the help of options that read one.
EMBEDDING_FILES = ".parquet, .csv, .npy, .npz, .txt (word2vec), .tsv or .duckdb, or a folder that embed has written"
CacheOption = Annotated[bool, typer.Option("--cache/--no-cache", help="Whether to cache rankings of views on disk.")]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Random seed.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
# Settings are selected on other splits than those used for results.
FirstSplitOption = Annotated[
    int, typer.Option("--first-split", metavar="N", min=0, help="Random seed of the first split.")
]
TrainOption = Annotated[float, typer.Option("--train", metavar="SHARE", help="Share of the nodes to train on.")]
ValOption = Annotated[float, typer.Option("--val", metavar="SHARE", help="Share of the nodes to validate on.")]
SplitsOption = Annotated[int, typer.Option("--splits", metavar="N", min=1, help="Number of random splits.")]
