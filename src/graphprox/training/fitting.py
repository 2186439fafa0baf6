"""fit: from a graph and a recipe to an embedding, with all that was learned on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphprox.arrays import FloatArray
from graphprox.graph import Graph
from graphprox.proximity.descriptors import Progress
from graphprox.proximity.ranking import Ranking
from graphprox.proximity.views import rank_view
from graphprox.training.model import Model, chosen_device
from graphprox.training.outcome import told_apart
from graphprox.training.recipe import Recipe
from graphprox.training.store import CHECKPOINTS, METRICS, Metrics, Origin, prepared, save_model
from graphprox.training.trainer import Step, train


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained model, the embedding of the graph it was trained on, the rankings of its views, and its losses."""

    model: Model
    embedding: FloatArray
    rankings: dict[str, Ranking]
    losses: FloatArray


def fit(
    graph: Graph,
    recipe: Recipe,
    *,
    device: str = "auto",
    folder: Path | None = None,
    resume: bool = False,
    checkpoint_every: int = 20,
    cache: bool = True,
    progress: Progress | None = None,
    on_step: Iterable[Callable[[Step], None]] = (),
) -> Fitted:
    """Rank the views that a recipe needs, train, and embed the graph. Labels play no part.

    With a ``folder`` the model is kept there, and checkpoints from which ``resume`` goes on. ``progress`` hears of the
    views, each of ``on_step`` of every step.

    >>> from graphprox import synthetic
    >>> fitted = fit(synthetic(nodes=140), Recipe(steps=2), cache=False)
    >>> fitted.embedding.shape, len(fitted.losses)
    ((140, 256), 2)
    """
    graph = graph.without_labels()
    chosen = chosen_device(device)
    if folder is not None:
        prepared(folder)
    # An encoder as it was drawn sees no view.
    rankings = ranked_views(graph, recipe, cache=cache, progress=progress) if recipe.steps else {}
    listeners = list(on_step)
    checkpoints = None if folder is None else folder / CHECKPOINTS
    if folder is not None:
        listeners.append(_Recorder(folder / METRICS))
    model, losses = train(
        graph,
        rankings,
        recipe,
        device=chosen,
        checkpoints=checkpoints,
        every=checkpoint_every,
        resume=resume,
        on_step=_each(listeners),
    )
    embedding = told_apart(model.embed(graph))
    if folder is not None:
        Metrics(folder / METRICS, after=len(losses))  # an earlier training may have taken more steps
        save_model(folder, model, Origin.of(graph))
    return Fitted(model, embedding, rankings, np.array(losses))


def ranked_views(
    graph: Graph, recipe: Recipe, *, cache: bool = True, progress: Progress | None = None
) -> dict[str, Ranking]:
    """The rankings that a recipe's turns need, by the name of the view."""
    options = {
        "feature": {"binary": recipe.views.binary},
        "topology": recipe.topology.model_dump(),
        "neighbourhood": {},
    }
    return {
        view: rank_view(
            graph,
            view,
            k_max=recipe.k_range(view)[1],
            seed=recipe.seed,
            engine=recipe.views.engine,
            options=options[view],
            cache=cache,
            progress=progress,
        )
        for view in recipe.views_needed
    }


def _each(listeners: list[Callable[[Step], None]]) -> Callable[[Step], None]:
    def tell(step: Step) -> None:
        for listen in listeners:
            listen(step)

    return tell


class _Recorder:
    """Writes metrics; the file is opened at the first step, whose number tells which lines of an earlier run stay."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.metrics: Metrics | None = None

    def __call__(self, step: Step) -> None:
        if self.metrics is None:
            self.metrics = Metrics(self.path, after=step.step - 1)
        self.metrics.add(step)
