"""A graph in a folder of memory maps, for graphs that need not fit into memory.

graph.json              what is in the folder, with a checksum of every file
part-00000-1f0a2b3c/    rows of the first part:
    indptr.npy          int64, where the entries of each row begin, from 0
    columns.npy         int32, node numbers, sorted in each row
    weights.npy         float32, if the graph has weights
    features.npy        float32, dense; or feature_values, feature_columns and feature_indptr
    labels.npy          int64, if there are labels
    ids.npy             int64; or id_text and id_offsets of strings in UTF-8
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from graphprox.errors import ParameterError, ReadError
from graphprox.graph.graph import Graph
from graphprox.io.folder.description import GRAPH, Description, check_is_folder, read_description, verify_file
from graphprox.io.folder.graph_part import GraphBlock, GraphPart
from graphprox.io.storage.verified import add_remedy

_REMEDY = "copy the folder again, or run graphprox shard again"


class GraphFolder:
    """A graph in a folder of memory maps.

    Parameters
    ----------
    path : Path
    about : Description
        Content of its graph.json.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from graphprox import synthetic
    >>> with TemporaryDirectory() as place:
    ...     folder = GraphFolder.create(Path(place, "G"), synthetic(nodes=140), num_parts=2)
    ...     [(block.rows, block.features.shape) for block in folder.blocks(50)]
    [(range(0, 50), (50, 32)), (range(50, 70), (20, 32)), (range(70, 120), (50, 32)), (range(120, 140), (20, 32))]
    """

    def __init__(self, path: Path, about: Description) -> None:
        self.path, self.about = path, about
        self.parts = tuple(GraphPart(path, index, about) for index in range(len(about.parts)))

    @classmethod
    def open(cls, path: str | Path, *, parts: Iterable[int] | None = None) -> GraphFolder:
        """Open a graph folder.

        The size of every file is verified, and the checksum of a sample of at most 256 KiB; `verify` reads all.

        Parameters
        ----------
        path : str or Path
        parts : iterable of int, optional
            Parts that will be used, and are verified; the others may be missing. All by default.

        Returns
        -------
        GraphFolder

        Raises
        ------
        ReadError
            If it is no graph folder, or a part is missing or was changed.
        """
        check_is_folder(Path(path))
        with add_remedy(_REMEDY):
            folder = cls(Path(path), read_description(Path(path)))
        folder._verify(folder._select(parts), full=False)
        return folder

    @classmethod
    def create(cls, path: str | Path, graph: Graph, *, num_parts: int = 1, overwrite: bool = False) -> GraphFolder:
        """Write a graph that fits into memory as a graph folder.

        Parameters
        ----------
        path : str or Path
            A folder that does not exist or is empty.
        graph : Graph
        num_parts : int, default=1
        overwrite : bool, default=False
            Whether an older graph folder is replaced.

        Returns
        -------
        GraphFolder
        """
        from graphprox.io.folder.create import create_graph_folder

        return cls(Path(path), create_graph_folder(Path(path), graph, num_parts=num_parts, overwrite=overwrite))

    # -- sizes -----------------------------------------------------------------------------------------------------

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.about.num_nodes

    @property
    def num_entries(self) -> int:
        """Number of entries of the adjacency matrix; an undirected edge has two."""
        return self.about.num_entries

    @property
    def num_features(self) -> int:
        """Number of features; 0 if the graph has none."""
        return 0 if self.about.features is None else self.about.features.num_features

    @property
    def num_parts(self) -> int:
        """Number of parts."""
        return len(self.parts)

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""
        return self.about.directed

    @property
    def has_weights(self) -> bool:
        """Whether edges have weights."""
        return self.about.has_weights

    @property
    def has_sparse_features(self) -> bool:
        """Whether features are CSR arrays."""
        return self.about.features is not None and self.about.features.is_sparse

    @property
    def checksum(self) -> str:
        """Checksum of features, edges and weights as of `graph_checksum`, whatever the number of parts."""
        return self.about.graph_checksum

    def rows(self, part: int) -> range:
        """Return the node numbers of a part.

        Parameters
        ----------
        part : int
            Number of the part, from 0.

        Returns
        -------
        range
        """
        return self.parts[part].rows

    def __repr__(self) -> str:
        parts = "1 part" if self.num_parts == 1 else f"{self.num_parts} parts"
        return f"GraphFolder({self.path}, {self.num_nodes} nodes, {self.num_entries} entries, {parts})"

    # -- reading ---------------------------------------------------------------------------------------------------

    def blocks(self, num_rows: int, *, parts: Iterable[int] | None = None) -> Iterator[GraphBlock]:
        """Iterate over rows in the order of nodes, a block at a time; no block has rows of two parts.

        Parameters
        ----------
        num_rows : int
            Rows of a block; the last one of a part may have fewer.
        parts : iterable of int, optional
            Parts to read; all by default.

        Yields
        ------
        GraphBlock
        """
        for part in self._select(parts):
            yield from part.blocks(num_rows)

    def to_graph(self) -> Graph:
        """Return the graph, whose arrays are memory maps where that is possible.

        Features, weights, labels and integer ids of a folder of one part are not copied. Those of several parts are
        joined in memory, as are string ids, and ``edge_index`` takes 16 bytes an entry.

        Returns
        -------
        Graph

        Warns
        -----
        StructuralFeaturesWarning
            If the graph has no features.
        """
        from graphprox.io.folder.folder_graph import to_graph

        return to_graph(self)

    # -- verification ----------------------------------------------------------------------------------------------

    def verify(self, *, parts: Iterable[int] | None = None) -> None:
        """Compare the content of every file with its checksum.

        Parameters
        ----------
        parts : iterable of int, optional
            Parts to verify; all by default.

        Raises
        ------
        ReadError
            If a file is missing or was changed.
        """
        self._verify(self._select(parts), full=True)

    def _select(self, parts: Iterable[int] | None) -> list[GraphPart]:
        if parts is None:
            return list(self.parts)
        chosen = list(parts)
        unknown = [part for part in chosen if not 0 <= part < self.num_parts]
        if unknown:
            raise ParameterError(f"a part must be one of 0..{self.num_parts - 1}; got {unknown[0]}")
        return [self.parts[part] for part in chosen]

    def _verify(self, parts: Iterable[GraphPart], *, full: bool) -> None:
        for part in parts:
            if not part.path.is_dir():
                raise ReadError(self._describe_missing(part))
            with add_remedy(_REMEDY):
                for name, record in part.record.files.items():
                    verify_file(part.path / name, record, full=full)

    def _describe_missing(self, part: GraphPart) -> str:
        """Describe a missing part, and whether there is one of another graph in its place."""
        number = part.record.folder.rpartition("-")[0]
        others = sorted(each.name for each in self.path.glob(f"{number}-*"))
        found = f"{others[0]} is of another graph" if others else f"{part.record.folder} is missing"
        return f"{self.path} must have all parts that its {GRAPH} lists; {found}: {_REMEDY}"
