"""From a graph and a recipe to a trained model: rank the views, train, embed."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphprox._utils.arrays import FloatArray
from graphprox._utils.outcome import warn_if_collapsed
from graphprox._utils.progress import Progress
from graphprox._utils.team import current_team
from graphprox.distributed.processes import Processes, current_processes
from graphprox.ftgcl.chunk_rules import obstacle_to_chunks
from graphprox.ftgcl.chunked_trainer import choose_batches, divide_rows
from graphprox.ftgcl.divided import Divided, check_division
from graphprox.ftgcl.model import Model, select_device
from graphprox.ftgcl.model_folder import MetricsFile, Origin, save_model
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.trainer import Callback, EpochLog, FullBatch, train
from graphprox.graph.graph import Graph
from graphprox.io.storage.model_claims import claim_model_folder
from graphprox.io.storage.model_files import CHECKPOINTS, FAMILY, METRICS
from graphprox.preprocessing.preprocessor import Preprocessor
from graphprox.views.base import rank_view
from graphprox.views.ranking import Ranking


@dataclass(frozen=True, eq=False)
class FitResult:
    """Result of a training run.

    Attributes
    ----------
    model : Model
    vectors : ndarray of shape (num_nodes, n_components)
        Vectors of the graph that the model was trained on.
    rankings : dict of str to Ranking
        Rankings of the views.
    losses : ndarray of shape (n_epochs,)
    """

    model: Model
    vectors: FloatArray
    rankings: dict[str, Ranking]
    losses: FloatArray


def fit_recipe(
    graph: Graph,
    recipe: Recipe,
    *,
    device: str = "auto",
    folder: Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    checkpoint_every: int = 20,
    cache: bool = True,
    progress: Progress | None = None,
    callbacks: Iterable[Callback] = (),
    preprocessor: Preprocessor | None = None,
) -> FitResult:
    """Rank the views that a recipe needs, train, and embed the graph; labels are ignored.

    Parameters
    ----------
    graph : Graph
    recipe : Recipe
    device : str, default="auto"
    folder : Path, optional
        Folder in which the model and its checkpoints are saved.
    resume : bool, default=False
        Whether to continue from the newest checkpoint in ``folder``.
    overwrite : bool, default=False
        Whether an older model and its checkpoints in ``folder`` are replaced; without it, that is an error.
    checkpoint_every : int, default=20
        Number of epochs between checkpoints.
    cache : bool, default=True
        Whether rankings are cached on disk.
    progress : callable, optional
    callbacks : iterable of callable
        Called with an `EpochLog` after each epoch.
    preprocessor : Preprocessor, optional
        How the features of the graph were prepared, which is saved with the model.

    Returns
    -------
    FitResult

    Examples
    --------
    >>> from graphprox import synthetic
    >>> result = fit_recipe(synthetic(nodes=140), Recipe(epochs=2), cache=False)
    >>> result.vectors.shape, len(result.losses)
    ((140, 512), 2)
    """
    graph = graph.without_labels()
    selected = select_device(device)
    processes = current_processes()
    writes = folder if processes is None or processes.is_first else None  # one process writes
    claim = nullcontext() if writes is None else claim_model_folder(writes, FAMILY, overwrite=overwrite, resume=resume)
    with claim, _choose_batches(graph, recipe, folder, processes) as batches:
        # An untrained encoder uses no view.
        rankings = rank_views(graph, recipe, cache=cache, progress=progress) if recipe.epochs else {}
        all_callbacks = list(callbacks)
        if progress is not None:
            all_callbacks.append(_report_to(progress, recipe.epochs))
        if writes is not None:
            all_callbacks.append(_MetricsWriter(writes / METRICS))
        model, losses = train(
            graph,
            rankings,
            recipe,
            device=selected,
            checkpoints=None if folder is None else folder / CHECKPOINTS,
            checkpoint_every=checkpoint_every,
            resume=resume,
            callbacks=all_callbacks,
            batches=batches,
        )
        vectors = warn_if_collapsed(batches.embed(model, graph))
        if writes is not None:
            MetricsFile(writes / METRICS, after=len(losses))  # an earlier run may have had more epochs
            save_model(writes, model, Origin.of(graph), preprocessor=preprocessor, overwrite=True)
    return FitResult(model, vectors, rankings, np.array(losses))


def _choose_batches(
    graph: Graph, recipe: Recipe, folder: Path | None, processes: Processes | None
) -> AbstractContextManager[FullBatch]:
    if processes is None:
        return choose_batches(graph, recipe, folder)
    check_division(processes, graph, recipe)
    if obstacle_to_chunks(recipe) is None:  # edges are used before training only
        return divide_rows(graph, recipe, folder, processes)
    return nullcontext(Divided(processes))


def rank_views(
    graph: Graph, recipe: Recipe, *, cache: bool = True, progress: Progress | None = None
) -> dict[str, Ranking]:
    """Rank the views that the pairs of a recipe name.

    Parameters
    ----------
    graph : Graph
    recipe : Recipe
    cache : bool, default=True
    progress : callable, optional

    Returns
    -------
    dict of str to Ranking
        Several processes, each of which reads the edges to its own nodes only, have them in files.
    """
    is_shared = current_team().size > 1

    def rank(view: str) -> Ranking:
        ranking = rank_view(
            graph,
            view,
            k_max=recipe.views.k_range(view)[1],
            random_state=recipe.random_state,
            engine=recipe.views.engine,
            options=recipe.views.options_of(view).descriptor_options(),
            cache=cache,
            progress=progress,
        )
        return ranking.in_files() if is_shared else ranking

    return {view: rank(view) for view in recipe.required_views}


def _report_to(progress: Progress, epochs: int) -> Callback:
    def report(log: EpochLog) -> None:
        progress("training", log.epoch, epochs, note=f", loss {log.loss:.4f}")

    return report


class _MetricsWriter:
    """Writes metrics; the file is opened after the first epoch, and lines of later epochs in it are removed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file: MetricsFile | None = None

    def __call__(self, log: EpochLog) -> None:
        if self.file is None:
            self.file = MetricsFile(self.path, after=log.epoch - 1)
        self.file.append(log)
