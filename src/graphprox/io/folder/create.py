"""Write a graph that fits into memory as a graph folder."""

from __future__ import annotations

from pathlib import Path

from graphprox.errors import GraphError, ParameterError
from graphprox.graph.checksum import graph_checksum
from graphprox.graph.graph import Graph
from graphprox.io.folder.claims import claim_graph_folder, publish
from graphprox.io.folder.description import MAX_NODES, Description, FeatureRecord
from graphprox.io.folder.part_files import describe_part, kind_of_ids, split_rows, write_graph_rows
from graphprox.io.storage.files import flush_folder
from graphprox.io.storage.memory_maps import check_memory_maps


def check_num_parts(num_parts: int, num_nodes: int) -> None:
    """Raise an error unless every part would have a node.

    Parameters
    ----------
    num_parts, num_nodes : int
    """
    if not 1 <= num_parts <= num_nodes:
        raise ParameterError(
            f"the number of parts must be between 1 and the number of nodes, {num_nodes:,}; got {num_parts}"
        )


def check_limit(num_nodes: int) -> None:
    """Raise an error if there are more nodes than an int32 can number.

    Parameters
    ----------
    num_nodes : int
    """
    if num_nodes > MAX_NODES:
        raise GraphError(f"a graph folder must have at most {MAX_NODES:,} nodes; got {num_nodes:,}")


def create_graph_folder(folder: Path, graph: Graph, *, num_parts: int = 1, overwrite: bool = False) -> Description:
    """Write a graph as a graph folder; see `GraphFolder.create`.

    Parameters
    ----------
    folder : Path
    graph : Graph
    num_parts : int, default=1
    overwrite : bool, default=False

    Returns
    -------
    Description
    """
    check_num_parts(num_parts, graph.num_nodes)
    check_limit(graph.num_nodes)
    records, written = [], []
    with claim_graph_folder(folder, overwrite=overwrite) as work:
        check_memory_maps(work)
        for index, rows in enumerate(split_rows(graph.num_nodes, num_parts)):
            part = work / f"part-{index:05d}"
            part.mkdir()
            num_entries, num_values = write_graph_rows(part, graph, rows)
            flush_folder(part)
            records.append(describe_part(part, index, rows, num_entries=num_entries, num_values=num_values))
            written.append(part)
        about = Description(
            num_nodes=graph.num_nodes,
            num_entries=graph.num_entries,
            directed=graph.directed,
            duplicates=graph.duplicates,
            has_weights=graph.edge_weight is not None,
            features=FeatureRecord(
                num_features=graph.num_features,
                is_sparse=graph.has_sparse_features,
                names=graph.feature_names,
                encoder=None if graph.table is None else graph.table.encoder,
            ),
            has_labels=graph.y is not None,
            class_names=graph.class_names,
            ids=kind_of_ids(graph.node_ids),
            graph_checksum=graph_checksum(graph),
            parts=tuple(records),
        )
        publish(folder, work, about, written)
    return about
