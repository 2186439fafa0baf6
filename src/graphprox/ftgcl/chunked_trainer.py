"""Training and embedding of a chunk of nodes at a time, for encoders that work on rows of diffused features."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

from graphprox._utils.arrays import FloatArray
from graphprox._utils.memory import available_memory, current_memory
from graphprox._utils.outcome import raise_if_diverged
from graphprox._utils.team import row_keepers
from graphprox.distributed.processes import Processes
from graphprox.errors import WriteError
from graphprox.ftgcl.model import Model
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.row_sources import Draw, RowSources
from graphprox.ftgcl.source_names import GRAPH
from graphprox.ftgcl.stored_tables import WorkFolder, open_work_folder
from graphprox.ftgcl.trainer import FULL_BATCH, FullBatch, Trainer
from graphprox.ftgcl.training_costs import choose_chunk_size
from graphprox.ftgcl.two_pass import backward_in_chunks, split_rows
from graphprox.graph.graph import Graph
from graphprox.io.storage.files import reason
from graphprox.views.ranking import Ranking

SHARE_OF_MEMORY = 4  # vectors that need more than one part of this many of the free memory are stored in a file


class ChunkedTrainer(Trainer):
    """A trainer whose steps encode a chunk of nodes at a time; their gradient is that of the full batch.

    Parameters
    ----------
    graph : Graph
        Graph without labels.
    rankings : mapping of str to Ranking
    recipe : Recipe
    device : torch.device
    chunk_size : int
        Largest number of nodes of a chunk.
    work : WorkFolder
        Where propagated features are stored. If several processes use it, each encodes its own nodes, and they add up
        sums over nodes and gradients of the weights: nothing else is exchanged in a step.
    """

    sources: RowSources

    def __init__(
        self,
        graph: Graph,
        rankings: Mapping[str, Ranking],
        recipe: Recipe,
        *,
        device: torch.device,
        chunk_size: int,
        work: WorkFolder,
    ) -> None:
        super().__init__(graph, rankings, recipe, device=device, processes=work.processes)
        self.sources = RowSources(graph, rankings, self.model, work)
        self.chunks = split_rows(self.sources.rows, chunk_size)

    def _compute_gradient(self, pairs: tuple[tuple[str, str], ...], position: float, rng: np.random.Generator) -> float:
        draws = self.sources.draw_pairs(pairs, position, rng)
        loss = backward_in_chunks(
            lambda rows: self.sources.encode_pairs(draws, rows),
            self.chunks,
            self.objective,
            self.recipe.objective,
            reduce=None if self.processes is None else self.processes.sum_,
        )
        if self.processes is not None:
            self.processes.sum_gradients(self.model.parameters())
        return float(loss)


class InChunks(FullBatch):
    """How nodes are encoded: a chunk at a time.

    Parameters
    ----------
    chunk_size : int
        Largest number of nodes of a chunk.
    work : WorkFolder
        Where propagated features are stored.
    """

    def __init__(self, chunk_size: int, work: WorkFolder) -> None:
        self.chunk_size = chunk_size
        self.work = work

    def make_trainer(
        self, graph: Graph, rankings: Mapping[str, Ranking], recipe: Recipe, *, device: torch.device
    ) -> Trainer:
        """Return the trainer of a graph without labels."""
        return ChunkedTrainer(graph, rankings, recipe, device=device, chunk_size=self.chunk_size, work=self.work)

    @torch.no_grad()
    def embed(self, model: Model, graph: Graph) -> FloatArray:
        """Return the vectors of all nodes, as a memory map if they would take much of the memory.

        Inside of ``keep_own_rows``, these are the vectors of this process.
        """
        sources = RowSources(graph, {}, model, self.work)
        remedy = f"lower learning_rate (now {model.recipe.optimizer.learning_rate:g})"
        model.check_features(graph)
        draw, chunks = Draw(GRAPH, 0), split_rows(sources.rows, self.chunk_size)
        blocks = (raise_if_diverged(sources.embed(draw, rows).cpu().numpy(), remedy) for rows in chunks)
        num_rows = sources.rows.stop - sources.rows.start
        vectors = _concatenate(blocks, (num_rows, model.encoder.n_components), self.work.path.parent)
        if (processes := self.work.processes) is None or row_keepers().size > 1:
            return vectors
        gathered: FloatArray = processes.gather_rows(torch.tensor(vectors), graph.num_nodes).numpy()
        return gathered


def _concatenate(blocks: Iterator[FloatArray], shape: tuple[int, int], folder: Path) -> FloatArray:
    """Return rows as one array: in memory, or in a file without a name, which is removed together with the array."""
    available = available_memory()
    if available is None or 4 * shape[0] * shape[1] <= max(available - current_memory(), 0) // SHARE_OF_MEMORY:
        vectors, filled = np.empty(shape, np.float32), 0
        for block in blocks:
            vectors[filled : filled + len(block)] = block
            filled += len(block)
        return vectors
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            for block in blocks:
                file.write(np.ascontiguousarray(block).data)
            file.flush()
            return np.memmap(file, np.float32, "r", shape=shape)
    except OSError as error:
        raise WriteError(f"vectors cannot be written to {folder}: {reason(error)}: free some space there") from None


@contextmanager
def choose_batches(graph: Graph, recipe: Recipe, folder: Path | None = None) -> Iterator[FullBatch]:
    """Choose whether nodes are encoded all together or in chunks, by the recipe and the memory that is available.

    Parameters
    ----------
    graph : Graph
    recipe : Recipe
    folder : Path, optional
        Folder of the model, in which propagated features are stored until the ``with`` block ends.

    Yields
    ------
    FullBatch
    """
    chunk_size = choose_chunk_size(graph, recipe)
    if chunk_size is None:
        yield FULL_BATCH
        return
    with open_work_folder(folder) as work:
        yield InChunks(chunk_size, work)


@contextmanager
def divide_rows(graph: Graph, recipe: Recipe, folder: Path | None, processes: Processes) -> Iterator[FullBatch]:
    """Let each of several processes encode its own nodes, in chunks if memory requires it.

    Parameters
    ----------
    graph : Graph
    recipe : Recipe
        One that has no obstacle to chunks.
    folder : Path or None
        Folder of the model, in which propagated features are stored until the ``with`` block ends.
    processes : Processes

    Yields
    ------
    FullBatch
    """
    with open_work_folder(folder, processes) as work:
        yield InChunks(choose_chunk_size(graph, recipe) or graph.num_nodes, work)
