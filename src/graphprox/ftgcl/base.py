"""The base class of FT-GCL and its family: fit, transform, save, load.

A method of the family states what it contrasts, as fields of a recipe; its settings are its parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from graphprox._utils.arrays import FloatArray
from graphprox._utils.defaults import AUTO
from graphprox._utils.progress import Progress
from graphprox._utils.random import check_seed
from graphprox._utils.team import current_team
from graphprox.errors import ParameterError
from graphprox.forecast import Costs
from graphprox.forecast.disk import DiskUses
from graphprox.ftgcl.checkpoint import remove_checkpoints
from graphprox.ftgcl.chunked_trainer import choose_batches
from graphprox.ftgcl.fit import fit_recipe, rank_views
from graphprox.ftgcl.model import Model, select_device
from graphprox.ftgcl.model_folder import (
    MetricsFile,
    Origin,
    load_model,
    read_metrics,
    read_origin,
    read_preprocessor,
    save_model,
)
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.recipe_embedder import RecipeEmbedder
from graphprox.ftgcl.trainer import Callback, EpochLog, train_with_snapshots
from graphprox.graph.graph import Graph
from graphprox.graph.validation import GraphLike
from graphprox.io.storage.model_claims import claim_model_folder
from graphprox.io.storage.model_files import CHECKPOINTS, FAMILY, METRICS
from graphprox.methods import METHODS, parameter
from graphprox.views.ranking import Ranking


class _FittedContrastive:
    """Attributes that ``fit`` sets."""

    model_: Model
    recipe_: Recipe
    rankings_: dict[str, Ranking]
    loss_curve_: NDArray[np.float64]
    _origin: Origin
    _logs: list[EpochLog]


@dataclass(eq=False, repr=False, kw_only=True)
class ContrastiveEmbedder(_FittedContrastive, RecipeEmbedder):
    """Base class of the FT-GCL family: a shared encoder, trained by contrasting a graph and its views.

    Parameters
    ----------
    preset : str, default="auto"
        Settings selected for a data set, such as ``"Cora"``, or ``"default"``; they replace the values of parameters
        that were left at their default. ``"auto"`` takes those of the `Dataset` that is passed to ``fit``.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether columns of features are standardized: those of a table, whose units differ; all of them; or none.
    epochs : int, default=20
        Number of epochs; each is one full-batch step.
    k_max : int, default=10
        Largest number of neighbors of a node in a proximity view.
    encoder : str, default="gcn"
        A registered encoder, such as ``"gcn"``, ``"gat"``, ``"sage"``, ``"gin"`` or ``"mlp"``.
    n_components : int, default=512
        Size of the embedding; with the override ``{"encoder.jumping": "concat"}``, that of the last of the layers whose
        outputs are concatenated.
    hidden_channels : int or None, default=None
        Size of the hidden layers of the encoder, of all its heads together; None for ``n_components``.
    num_layers : int, default=2
        Number of layers of the encoder.
    activation : {"relu", "elu", "prelu", "none"}, default="prelu"
    head_layers : int, default=0
        Number of layers of the projection head, which is used in training only; 0 for no head.
    head_channels : int, default=512
        Size of the output of the projection head.
    temperature : float, default=0.5
        Temperature of the objective.
    learning_rate : float, default=1e-3
    weight_decay : float, default=5e-5
    normalize : {"rows", "none"}, default="rows"
        Whether the features that the encoder sees have rows of absolute sum 1.
    overrides : mapping or None, default=None
        Any other field of the recipe by its name, such as ``{"encoder.residual": True}``. Fields that a parameter
        stands for are rejected.
    checkpoint_dir : str, Path or None, default=None
        Folder in which the model and its checkpoints are saved while it trains.
    checkpoint_every : int, default=20
        Number of epochs between checkpoints.
    resume : bool, default=False
        Whether ``fit`` continues from the newest checkpoint in ``checkpoint_dir``.
    overwrite : bool, default=False
        Whether ``fit`` replaces an older model and its checkpoints in ``checkpoint_dir``; without it, that is an error.
    callbacks : iterable of callable or None, default=None
        Called with an :class:`~graphprox.ftgcl.trainer.EpochLog` after each epoch.
    device : str, default="auto"
        ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"mps"``.
    cache : bool, default=True
        Whether rankings of views are cached on disk.
    random_state : int, RandomState, Generator or None, default=0
        Random seed: the same integer gives the same result, bit by bit.
    verbose : bool, default=False
        Whether to print progress on stderr.

    Attributes
    ----------
    embedding_ : Embedding
    vectors_ : ndarray of shape (num_nodes, n_components)
    loss_curve_ : ndarray of shape (n_epochs,)
    rankings_ : dict of str to Ranking
        Rankings of the views.
    recipe_ : Recipe
        The recipe that was trained.
    model_ : Model
    """

    shares_work: ClassVar[bool] = True

    checkpoint_dir: str | Path | None = parameter(None, kind=object, is_setting=False)
    checkpoint_every: int = parameter(20, min=1, is_setting=False)
    resume: bool = parameter(False, is_setting=False)
    overwrite: bool = parameter(False, is_setting=False)
    callbacks: Iterable[Callback] | None = parameter(None, kind=object, is_setting=False)
    device: str = parameter("auto", is_setting=False)
    cache: bool = parameter(True, is_setting=False)

    def check_parameters(self) -> None:
        """Raise a `ParameterError` if the parameters do not describe a recipe, or how to train by it."""
        super().check_parameters()
        if self.resume and self.overwrite:
            raise ParameterError("resume and overwrite must not be set both; got True for both: leave one of them out")

    # -- from a graph to vectors --------------------------------------------------------------------------------------

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> FloatArray:
        logs: list[EpochLog] = []
        folder = None if self.checkpoint_dir is None else Path(self.checkpoint_dir)
        result = fit_recipe(
            graph,
            self.recipe().merged({"random_state": seed}),
            device=self.device,
            folder=folder,
            resume=self.resume,
            overwrite=self.overwrite,
            checkpoint_every=self.checkpoint_every,
            cache=self.cache,
            progress=progress,
            callbacks=[logs.append, *(self.callbacks or ())],
            preprocessor=self.preprocessor_,
        )
        self.model_, self.recipe_, self.rankings_ = result.model, result.model.recipe, result.rankings
        self.loss_curve_ = np.array(result.losses, np.float64)
        self._origin = Origin.of(graph)
        # Metrics also contain epochs before a resumption. One of several processes has written them.
        self._logs = logs if folder is None or current_team().rank else read_metrics(folder / METRICS)
        return result.vectors

    def _costs(self, graph: Graph) -> Costs:
        from graphprox.ftgcl.training_costs import training_costs

        return training_costs(graph, self.recipe())

    def _disk_use(self, graph: Graph, *, is_saved: bool) -> DiskUses:  # noqa: ARG002 - it is saved while it trains
        from graphprox.ftgcl.training_disk import training_disk_use

        return training_disk_use(graph, self.recipe(), checkpoint_every=self.checkpoint_every, cache=self.cache)

    def _count_components(self, graph: Graph) -> int:
        from graphprox.ftgcl.training_disk import make_empty_model

        return make_empty_model(graph, self.recipe()).encoder.n_components

    def _memory_costs(self, graph: Graph) -> Costs:
        from graphprox.ftgcl.training_costs import MODEL, training_memory

        return Costs(MODEL, {}, training_memory(graph, self.recipe()))

    def embed_after(self, graph: GraphLike, epochs: Iterable[int]) -> Iterator[tuple[list[float], FloatArray]]:
        """Train once, and yield the embedding after each of several numbers of epochs.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix
        epochs : iterable of int
            Numbers of epochs, in place of the parameter ``epochs``.

        Yields
        ------
        losses : list of float
            Loss of each epoch so far.
        vectors : ndarray of shape (num_nodes, n_components)

        Examples
        --------
        >>> from graphprox import FTGCL, synthetic
        >>> embedder = FTGCL(n_components=8, cache=False)
        >>> [len(losses) for losses, vectors in embedder.embed_after(synthetic(nodes=140), [2, 0])]
        [0, 2]
        """
        method = self.resolve_preset(graph)
        method.check_parameters()
        # Features are prepared by a clone: what this estimator was fitted on, if it was, stays as it is.
        unlabeled = clone(self)._check_graph(graph, fitting=True).without_labels()
        recipe = method.recipe().merged({"random_state": check_seed(self.random_state)})
        rankings = rank_views(unlabeled, recipe, cache=self.cache)
        device = select_device(self.device)
        with choose_batches(unlabeled, recipe) as batches:
            yield from train_with_snapshots(unlabeled, rankings, recipe, epochs, device=device, batches=batches)

    def _transform(self, graph: Graph) -> FloatArray:
        with choose_batches(graph, self.model_.recipe) as batches:
            return batches.embed(self.model_, graph)

    @property
    def _n_features_out(self) -> int:
        return self.model_.encoder.n_components

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    # -- a folder -----------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Save the trained model in a folder, as ``graphprox embed --model`` does; no file in it is a pickle.

        Parameters
        ----------
        folder : str or Path
            Created if it does not exist. It must not have files of other programs only.
        overwrite : bool, default=False
            Whether an older model in the folder is replaced; without it, that is an error.
        """
        check_is_fitted(self)
        folder = Path(folder)
        with claim_model_folder(folder, FAMILY, overwrite=overwrite):
            save_model(folder, self.model_, self._origin, preprocessor=self.preprocessor_, overwrite=True)
            remove_checkpoints(folder / CHECKPOINTS)  # which are not of this model
            MetricsFile.write(folder / METRICS, self._logs)

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto") -> Self:
        """Load the estimator of a model that ``save`` or ``graphprox embed --model`` has written.

        It can ``transform`` graphs; there is no ``embedding_``. To fit it again trains by the same recipe. A class
        loads models of its own method, ``ContrastiveEmbedder.load`` those of any.

        Parameters
        ----------
        folder : str or Path
        device : str, default="auto"
            Where ``transform`` runs: ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"mps"``.

        Returns
        -------
        ContrastiveEmbedder

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from graphprox import FGCL, synthetic
        >>> trained = FGCL(epochs=2, n_components=8, cache=False).fit(synthetic(nodes=140))
        >>> with TemporaryDirectory() as folder:
        ...     trained.save(folder)
        ...     FGCL.load(folder).transform(synthetic(nodes=140)).shape
        (140, 8)
        """
        model = load_model(folder, device=select_device(device))
        preprocessor = read_preprocessor(folder)
        given: dict[str, Any] = {} if device == "auto" else {"device": device}
        if preprocessor.scale != AUTO:
            given["scale"] = preprocessor.scale
        loaded = _class_of(model.recipe.method, cls).from_recipe(model.recipe, **given)
        loaded.model_, loaded.recipe_, loaded.n_features_in_ = model, model.recipe, model.num_features
        loaded._restore_features(preprocessor)
        loaded._origin, loaded._logs = read_origin(folder), read_metrics(Path(folder, METRICS))
        loaded.loss_curve_ = np.array([log.loss for log in loaded._logs], np.float64)
        loaded.settings_ = loaded.settings()
        return cast("Self", loaded)


def _class_of(method: str, requested: type[ContrastiveEmbedder]) -> type[ContrastiveEmbedder]:
    """Return the class of a model's method, which must be the requested one if that has a method."""
    found = METHODS.get(method, METHODS["ft-gcl"])  # a recipe may have a name of its own
    if not issubclass(found, ContrastiveEmbedder):
        raise ParameterError(
            f"a model must be of a method of the FT-GCL family; got {method!r}: "
            "graphprox.ftgcl.model_folder.load_model loads any"
        )
    if issubclass(requested, found):
        return requested
    own = getattr(requested, "name", None)
    if own is not None and own != method:
        raise ParameterError(
            f"{requested.__name__}.load loads models of {own}; got one of {method}: call {found.__name__}.load"
        )
    return found
