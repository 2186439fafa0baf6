"""The gradient of a step by several processes beside that of one, in single or double precision.

Propagated features are stored, and edges weighted, in single precision: another order of their sums would hide the
errors of the step in double precision. So the entries of edges are widened, and tables are those of one process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from graphprox.ftgcl.chunk_rules import obstacle_to_chunks
from graphprox.ftgcl.chunked_trainer import ChunkedTrainer
from graphprox.ftgcl.row_sources import Draw, RowSources
from graphprox.ftgcl.stored_tables import WorkFolder
from graphprox.ftgcl.trainer import Trainer
from graphprox.nn.convolution import WHOLE, Edges

if TYPE_CHECKING:
    import numpy as np

    from graphprox import Graph
    from graphprox.distributed.processes import Processes
    from graphprox.ftgcl.recipe import Recipe
    from graphprox.views.ranking import Ranking

CPU = torch.device("cpu")


@contextmanager
def double_edges() -> Iterator[None]:
    """Let edges that are prepared in the ``with`` block have entries of float64."""
    original = Edges.__dict__["of"]

    def of(cls: type[Edges], matrix: Any, device: Any = "cpu", part: Any = WHOLE) -> Edges:
        edges = original.__func__(cls, matrix, device, part)
        return cls(edges.pattern, edges.values.double(), part)

    Edges.of = classmethod(of)  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Edges.of = original  # type: ignore[method-assign]


def set_precision(trainer: Trainer, dtype: torch.dtype) -> None:
    """Convert the weights of a trainer and the features that its encoder reads."""
    trainer.model.to(dtype)
    trainer.optimizer.param_groups[0]["params"][:] = list(trainer.model.parameters())
    if isinstance(trainer.sources, RowSources):  # which converts the rows that it reads
        return
    for name in ("dense", "values"):
        if (value := getattr(trainer.sources.features, name)) is not None:
            object.__setattr__(trainer.sources.features, name, value.to(dtype))


class _WholeTable:
    def __init__(self, values: np.ndarray[Any, Any], first: int) -> None:
        self.values, self.first = values, first

    def read(self, rows: slice) -> np.ndarray[Any, Any]:
        return self.values[rows.start + self.first : rows.stop + self.first]


def read_tables_of(whole: ChunkedTrainer, trainer: ChunkedTrainer) -> None:
    """Let a trainer of some rows read those of the tables of another, which has all."""
    sources, own = whole.sources, trainer.sources

    def table(draw: Draw, _: object) -> _WholeTable:
        found = sources._work.table(RowSources._key(sources, draw), lambda: sources._propagate(draw))
        return _WholeTable(found.read(sources.rows), own.rows.start)

    own._work.table = table  # type: ignore[method-assign, assignment]
    own._key = lambda draw: draw  # type: ignore[method-assign, assignment, return-value]


def compute_gradient(
    graph: Graph,
    rankings: Mapping[str, Ranking],
    recipe: Recipe,
    dtype: torch.dtype,
    folder: Path,
    processes: Processes | None = None,
) -> Tensor:
    """Return the gradient of the first step, of all weights.

    Parameters
    ----------
    graph : Graph
    rankings : mapping of str to Ranking
    recipe : Recipe
    dtype : torch.dtype
    folder : Path
        Where propagated features are stored, of this process alone.
    processes : Processes, optional
        The processes that compute it together; by default this one does alone.

    Returns
    -------
    Tensor of shape (num_weights,)
    """
    with double_edges() if dtype == torch.float64 else nullcontext():
        trainer = _make_trainer(graph, rankings, recipe, folder, processes)
        set_precision(trainer, dtype)
        trainer.step()
    return torch.cat([each.grad.reshape(-1) for each in trainer.model.parameters() if each.grad is not None])


def _make_trainer(
    graph: Graph, rankings: Mapping[str, Ranking], recipe: Recipe, folder: Path, processes: Processes | None
) -> Trainer:
    if obstacle_to_chunks(recipe) is not None:
        return Trainer(graph, rankings, recipe, device=CPU, processes=processes)

    def make(part: Processes | None) -> ChunkedTrainer:
        work = WorkFolder(folder, part)
        return ChunkedTrainer(graph, rankings, recipe, device=CPU, chunk_size=graph.num_nodes, work=work)

    whole = make(None)
    if processes is None:
        return whole
    trainer = make(processes)
    read_tables_of(whole, trainer)
    return trainer


def relative_error(found: Tensor, exact: Tensor) -> float:
    """Return the largest difference, as a share of the largest entry."""
    return float((found.double() - exact.double()).abs().max() / exact.abs().max())
