"""What a method can do, and fitting it as ``graphprox embed`` does: claims, stages, checkpoints, interruptions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphprox._utils.defaults import DEFAULT_TRAINED_METHOD
from graphprox._utils.progress import report_progress
from graphprox.cli.graph_source import GraphSource
from graphprox.cli.progress_display import progress_bars
from graphprox.cli.ranks import is_first, several
from graphprox.cli.signals import describe_stop, stop_code
from graphprox.embedding import Embedding
from graphprox.errors import GraphproxError, ParameterError, ProcessError, StructuralFeaturesWarning
from graphprox.io.storage.model_claims import claim_model_folder
from graphprox.io.storage.model_files import FAMILY, has_stages

if TYPE_CHECKING:
    from graphprox._utils.arrays import NodeIds
    from graphprox.graph.graph import Graph
    from graphprox.methods import GraphEmbedder
    from graphprox.preprocessing.table_encoder import TableEncoder

# Parameters of FT-GCL and its family that are not settings, and the option for each.
TRAINING_OPTIONS = {
    "checkpoint_dir": "--model",
    "checkpoint_every": "--checkpoint-every",
    "resume": "--resume",
    "overwrite": "--force",
    "callbacks": "--tensorboard",
    "device": "--device",
    "cache": "--no-cache",
}

# -- what a method can do -------------------------------------------------------------------------------------------


def saves_while_training(estimator: GraphEmbedder) -> bool:
    """Return whether a method saves its model and checkpoints itself, and can be resumed."""
    return "checkpoint_dir" in estimator.parameters()


def can_be_saved(estimator: GraphEmbedder) -> bool:
    """Return whether a fitted method can be saved in a folder."""
    return hasattr(type(estimator), "save")


def explains(estimator: GraphEmbedder) -> bool:
    """Return whether a fitted method explains what it has kept."""
    return hasattr(type(estimator), "explanation_")


# -- fitting --------------------------------------------------------------------------------------------------------


def load_graph_for(source: GraphSource, estimator: GraphEmbedder, *, encoder: TableEncoder | None = None) -> Graph:
    """Load a graph, without the warning that it gets structural features if the method does not use them."""
    with warnings.catch_warnings():
        if estimator.ignores_structural_features:
            warnings.simplefilter("ignore", StructuralFeaturesWarning)
        return source.load(encoder=encoder).graph


def fit_on_source(
    estimator: GraphEmbedder,
    source: GraphSource,
    options: dict[str, Any],
    *,
    folder: Path,
    tensorboard: Path | None,
    check: Callable[[Graph], None],
) -> tuple[Embedding, NodeIds]:
    """Fit on the graph of a source, and save the model if ``options`` name a folder for it.

    Parameters
    ----------
    estimator : GraphEmbedder
    source : GraphSource
    options : dict
        Values of the parameters in `TRAINING_OPTIONS`; None for those that were not given.
    folder : Path
        Folder of the model or of checkpoints.
    tensorboard : Path or None
        Folder in which the loss is logged.
    check : callable
        Called with the graph before any work.

    Returns
    -------
    embedding : Embedding
        Of the nodes of this process, if there are several.
    ids : ndarray of shape (num_nodes,)
        Ids of all nodes.
    """
    from graphprox.forecast import ignore_memory
    from graphprox.ftgcl.tensorboard import tensorboard_callbacks

    model = options["checkpoint_dir"]
    with ExitStack() as claims, progress_bars(source.name) as show, report_progress(show):
        callbacks = claims.enter_context(tensorboard_callbacks(tensorboard if is_first() else None))
        _set_training_options(estimator, {**options, "callbacks": callbacks or None}, checkpoints=folder)
        estimator.check_parameters()
        is_saved_while_training = saves_while_training(estimator)
        temporary = folder if model is None and not folder.exists() and is_first() else None
        if (is_saved_while_training or model is not None) and is_first():
            kind = FAMILY if is_saved_while_training else estimator.name
            claims.enter_context(
                claim_model_folder(folder, kind, overwrite=options["overwrite"], resume=options["resume"])
            )
        graph = load_graph_for(source, estimator)
        check(graph)
        # What needs too much memory has been refused in the words of the command line.
        with _explain_interruption(estimator.name, model), _remove_on_error(temporary), ignore_memory():
            embedding = estimator.fit(graph).embedding_
        if model is not None and not is_saved_while_training and is_first():
            estimator.save(model, overwrite=True)  # what may be replaced was checked above
    return embedding, graph.ids


def keep_stages_of(estimator: GraphEmbedder, model: Path | None, *, resume: bool) -> AbstractContextManager[None]:
    """Keep finished stages in the folder of the model, if the method has stages, until the embedding is written."""
    from graphprox.auto.stages import keep_stages

    is_kept = can_be_saved(estimator) and not saves_while_training(estimator) and several() is None
    return keep_stages(model if is_kept else None, resume=resume)


def _set_training_options(estimator: GraphEmbedder, options: dict[str, Any], *, checkpoints: Path) -> None:
    """Set the options of a training that can be resumed; reject them for other methods."""
    given = {name: value for name, value in options.items() if value is not None}
    if saves_while_training(estimator):
        estimator.set_params(**{"checkpoint_dir": checkpoints, **given})
        return
    if can_be_saved(estimator):
        model = given.pop("checkpoint_dir", None)
        if given.pop("resume", False) and model is None:
            raise ParameterError(
                f"--resume of {estimator.name} continues from the folder that --model names; got no --model: name it"
            )
        if given.pop("overwrite", False) and options["resume"]:
            raise ParameterError("resume and overwrite must not be set both; got True for both: leave one of them out")
    for name, value in given.items():
        if name == "cache" or value is False or value in ("auto", "cpu"):  # what every method runs on
            continue
        needed = "can be saved" if name in ("checkpoint_dir", "overwrite") else "is trained by FT-GCL's trainer"
        raise ParameterError(
            f"{TRAINING_OPTIONS[name]} needs a method that {needed}, such as --method {DEFAULT_TRAINED_METHOD}; got "
            f"{estimator.name}: leave it out, or name such a method"
        )


@contextmanager
def _remove_on_error(folder: Path | None) -> Iterator[None]:
    """Remove a newly created folder of checkpoints if training fails, but not if it is interrupted."""
    try:
        yield
    except ProcessError:  # torchrun may start the processes again
        raise
    except GraphproxError:
        if folder is not None and folder.exists():
            remove_training(folder)
        raise


def remove_training(folder: Path) -> None:
    """Remove the model and the checkpoints of a training run from a folder, and the folder if nothing else is in it."""
    from graphprox.ftgcl.model_folder import remove_model

    remove_model(folder)


class _StoppedError(GraphproxError):
    """Fitting was stopped by a signal."""


@contextmanager
def _explain_interruption(method: str, model: Path | None) -> Iterator[None]:
    """Turn an interruption into an error: typer ends the program on a KeyboardInterrupt without a message."""
    from graphprox.ftgcl.interruption import Interrupted

    try:
        yield
    except Interrupted as stop:
        error = _StoppedError(str(stop))
        error.exit_code = stop.code
        raise error from None
    except KeyboardInterrupt:
        is_kept = model is not None and has_stages(model)
        what = ": the same command continues with --resume" if is_kept else ", and no file was written"
        error = _StoppedError(f"{describe_stop()}; {method} was not finished{what}")
        error.exit_code = stop_code()
        raise error from None
