"""The disk space that a command will take, in which folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphprox._utils.amounts import to_megabytes
from graphprox.io.embedding_sizes import embedding_bytes
from graphprox.io.storage.disk_space import free_disk_space

if TYPE_CHECKING:
    from graphprox.forecast.disk import DiskUse, Place
    from graphprox.graph.graph import Graph
    from graphprox.methods import GraphEmbedder


def list_disk_uses(
    estimator: GraphEmbedder, graph: Graph, *, out: Path, model: Path, is_saved: bool, work_dir: Path | None
) -> list[DiskUse]:
    """Return what fitting an estimator and writing the embedding take.

    Parameters
    ----------
    estimator : GraphEmbedder
    graph : Graph
    out : Path
        File of the embedding.
    model : Path
        Folder of the model or of checkpoints.
    is_saved : bool
        Whether the model is saved.
    work_dir : Path or None
        Folder of temporary files, by default that of the embedding.

    Returns
    -------
    list of DiskUse
        Those of no bytes are left out.
    """
    from graphprox.forecast.disk import DiskUse
    from graphprox.views.cache import ranking_directory

    folders: dict[Place, tuple[Path, str]] = {
        "work": (work_dir or out.parent, "--work-dir"),
        "model": (model, "--model"),
        "cache": (ranking_directory(), "XDG_CACHE_HOME"),
    }
    size = embedding_bytes(out, graph.ids, estimator.count_components(graph))
    uses = [DiskUse("the embedding", out.parent, size, "--out")]
    for place, files in estimator.disk_use(graph, is_saved=is_saved).items():
        folder, option = folders[place]
        uses += [DiskUse(what, folder, each, option) for what, each in files.items() if each]
    return uses


def to_json(uses: list[DiskUse]) -> list[dict[str, Any]]:
    """Return the disk space of each kind of files, as JSON has it."""
    from graphprox.forecast.disk import group_by_disk

    free = {id(each): free_disk_space(found[0].folder) for found in group_by_disk(uses) for each in found}
    return [
        {
            "files": each.what,
            "folder": str(each.folder),
            "mb": to_megabytes(each.size),
            "free_mb": to_megabytes(free[id(each)]),
        }
        for each in uses
    ]
