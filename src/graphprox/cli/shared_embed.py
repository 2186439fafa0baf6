"""What graphprox embed does otherwise if several processes share it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphprox._utils.defaults import DEFAULT_METHOD, DEFAULT_TRAINED_METHOD
from graphprox._utils.team import row_keepers
from graphprox.cli.ranks import is_first, several, was_restarted
from graphprox.embedding import Embedding
from graphprox.errors import ParameterError
from graphprox.io.embedding_folder.embedding_claims import is_embedding_folder
from graphprox.io.embedding_folder.folder_writer import check_is_shared_folder
from graphprox.io.embedding_writer import check_writable, embedding_outputs, write_embedding
from graphprox.io.storage.files import make_writable_folder
from graphprox.io.storage.model_files import CHECKPOINTS, checkpoint_epochs

if TYPE_CHECKING:
    from graphprox._utils.arrays import NodeIds
    from graphprox.methods import GraphEmbedder


def check_outputs_once(
    out: Path, layout: str | None, table: str | None, *, overwrite: bool, work_dir: Path | None
) -> None:
    """Check in the first process that outputs can be written, so that no other creates folders when it has failed.

    A folder to which all of them write must be the same one.
    """
    if is_first():
        check_writable(out, layout, table, overwrite=overwrite)
        if work_dir is not None:
            make_writable_folder(work_dir)
    if is_embedding_folder(out):
        check_is_shared_folder(out)


def check_is_shared(estimator: GraphEmbedder) -> None:
    """Check that several processes can share the work of a method, if there are several."""
    if several() is not None and not estimator.shares_work:
        raise ParameterError(
            f"several processes share the work of --method {DEFAULT_METHOD}, {DEFAULT_TRAINED_METHOD} and its family; "
            f"got {estimator.name}: name such a method, or start one process without torchrun"
        )


def continue_if_restarted(folder: Path, *, resume: bool, force: bool) -> tuple[bool, bool]:
    """Return whether training is resumed, and whether an older model is replaced.

    Processes that torchrun has started again resume what they have saved. What was to be replaced is gone by then.
    """
    if not was_restarted():
        return resume, force
    is_saved = bool(checkpoint_epochs(folder / CHECKPOINTS))
    return is_saved or not force, force and not is_saved


def gather_for_file(out: Path, embedding: Embedding, ids: NodeIds) -> Embedding:
    """Return the vectors of all nodes in the first process, which writes a file; of a folder, each writes its own.

    Parameters
    ----------
    out : Path
    embedding : Embedding
        Of the nodes of this process.
    ids : ndarray of shape (num_nodes,)
        Of all nodes.
    """
    if is_embedding_folder(out) or row_keepers().size == 1:
        return embedding
    from graphprox.auto.exchange import gather_first

    vectors = gather_first(row_keepers(), embedding.vectors, len(ids))
    return Embedding(vectors, ids) if is_first() else embedding


def write_together(out: Path, embedding: Embedding, **options: Any) -> list[Path]:
    """Write an embedding: the first process does, or each its part of a folder; return all files."""
    if is_first() or is_embedding_folder(out):
        return write_embedding(out, embedding, **options)
    return embedding_outputs(out)
