"""The immutable `Embedding` that methods return: a vector for every node, and the node ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from graphprox._utils.arrays import IntArray, NodeIds, freeze
from graphprox._utils.mapped import release_pages
from graphprox._utils.node_ids import check_ids, is_id
from graphprox._utils.suggestions import shorten_repr, suggest_id
from graphprox.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from graphprox._utils.random import RandomState
    from graphprox.io.embedding_folder.part_tables import Layout
    from graphprox.similarity_search import Neighbors

_VALUES_PER_BLOCK = 1 << 19  # fit into the processor's cache


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Embedding:
    """A vector for every node, and the node ids.

    All arguments are validated once, on construction; both arrays are read-only. ``np.asarray(embedding)`` returns
    the vectors, so an embedding can be passed wherever an array is expected.

    Parameters
    ----------
    vectors : array-like of shape (num_nodes, n_components)
        Finite numbers. They are stored as float64 if they are given as such, and as float32 otherwise. A memory-mapped
        array opened in mode "r" is not copied.
    ids : array-like of shape (num_nodes,), default=None
        Unique node ids, all integers or all strings; 0 to ``num_nodes - 1`` if None.

    Attributes
    ----------
    vectors : ndarray of shape (num_nodes, n_components)
        The vectors.
    ids : ndarray of shape (num_nodes,)
        Ids, int64 or str.

    Raises
    ------
    ParameterError
        If the vectors are not a finite matrix, or the ids are not unique.

    Examples
    --------
    >>> embedding = Embedding([[1, 0], [0, 1], [1, 1]], ids=["ann", "bob", "cy"])
    >>> embedding
    Embedding(3 nodes, 2 components)
    >>> embedding["cy"]
    array([1., 1.], dtype=float32)
    >>> "dan" in embedding
    False
    """

    vectors: NDArray[Any]
    ids: NodeIds

    def __init__(self, vectors: ArrayLike, ids: ArrayLike | None = None) -> None:
        matrix = check_vectors(vectors)
        names = np.arange(len(matrix)) if ids is None else check_ids(ids, len(matrix))
        check_finite(matrix, names)
        object.__setattr__(self, "vectors", _freeze_vectors(matrix, given=vectors))
        object.__setattr__(self, "ids", freeze(names, given=ids))

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return int(self.vectors.shape[0])

    @property
    def n_components(self) -> int:
        """Length of each vector."""
        return int(self.vectors.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of ``vectors``, (num_nodes, n_components)."""
        return self.num_nodes, self.n_components

    @cached_property
    def _row_of(self) -> Mapping[int | str, int]:
        return {node: row for row, node in enumerate(self.ids.tolist())}

    def index(self, ids: ArrayLike) -> IntArray:
        """Find the rows of nodes.

        Parameters
        ----------
        ids : int, str or array-like of shape (n_queries,)
            One node id, or several.

        Returns
        -------
        ndarray of shape (n_queries,)
            Row numbers; an array without dimensions for a single id.

        Raises
        ------
        ParameterError
            If an id is unknown.

        Examples
        --------
        >>> Embedding([[1, 0], [0, 1]], ids=["ann", "bob"]).index(["bob", "ann"])
        array([1, 0])
        """
        queries = np.asarray(ids, dtype=object)
        if queries.ndim > 1:
            raise ParameterError(f"ids must be one node id or a list of them; got an array of shape {queries.shape}")
        rows = [self._find_row(node) for node in queries.ravel().tolist()]
        return np.array(rows, np.int64).reshape(queries.shape)

    def _find_row(self, node: Any) -> int:
        row = self._row_of.get(node) if is_id(node) else None
        if row is None:
            raise ParameterError(f"the embedding has no node {shorten_repr(node)}; {suggest_id(node, self.ids)}")
        return row

    def nearest(self, ids: ArrayLike, k: int = 10, metric: str = "cosine") -> Neighbors:
        """Find the nearest nodes of one or several nodes.

        The search is exact and needs little memory. A node is not its own neighbor.

        Parameters
        ----------
        ids : int, str or array-like of shape (n_queries,)
            One node id, or several.
        k : int, default=10
            Number of neighbors, less than the number of nodes.
        metric : {"cosine", "dot", "euclidean"}, default="cosine"
            Cosine similarity, inner product or Euclidean distance.

        Returns
        -------
        Neighbors
            Ids and scores of the neighbors, nearest first: of shape (k,) for a single id, (n_queries, k) for several.

        Raises
        ------
        ParameterError
            If an id is unknown, or ``k`` or ``metric`` is invalid.

        Examples
        --------
        >>> embedding = Embedding([[1, 0], [3, 4], [2, 0]], ids=["ann", "bob", "cy"])
        >>> embedding.nearest("ann", k=2)
        Neighbors of 'ann' by cosine:
          cy   1.0000
          bob  0.6000
        >>> [(node, score) for node, score in embedding.nearest("bob", k=1)]
        [('ann', 0.6)]
        >>> embedding.nearest(["ann", "bob"], k=1).ids
        array([['cy'],
               ['ann']], dtype=object)
        """
        from graphprox.similarity_search import nearest

        rows = self.index(ids)
        neighbors = nearest(self, np.atleast_1d(rows), k=k, metric=metric)
        return neighbors if rows.ndim else neighbors[0]

    def save(
        self, path: str | Path, *, layout: Layout | None = None, table: str | None = None, overwrite: bool = False
    ) -> list[Path]:
        """Write the embedding to a file or folder, atomically.

        Parameters
        ----------
        path : str or Path
            File whose ending selects the format: ``.parquet``, ``.npz``, ``.npy`` (without ids), ``.csv``, ``.txt`` or
            ``.w2v`` (word2vec), ``.tsv`` (TensorBoard's projector), or ``.duckdb`` (a table of a database). A name
            without an ending is a folder of Parquet files.
        layout, table, overwrite
            As in `graphprox.write_embedding`.

        Returns
        -------
        list of Path
            The files that were written.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     written = Embedding([[1, 0], [0, 1]]).save(Path(folder, "vectors.csv"))
        ...     [path.name for path in written]
        ['vectors.csv']
        """
        from graphprox.io.embedding_writer import write_embedding

        return write_embedding(path, self, layout=layout, table=table, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path, ids: ArrayLike | None = None) -> Embedding:
        """Read an embedding from a file or folder.

        Parameters
        ----------
        path : str or Path
            What `save` has written, or a file of another program; see `graphprox.read_embedding` for the formats.
        ids : array-like of shape (num_nodes,), default=None
            Node ids of a file that contains none, such as ``.npy``.

        Returns
        -------
        Embedding

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path, = Embedding([[1, 0], [0, 1]], ids=["ann", "bob"]).save(Path(folder, "vectors.parquet"))
        ...     Embedding.load(path).ids.tolist()
        ['ann', 'bob']
        """
        from graphprox.io.embedding_reader import read_embedding

        return read_embedding(path, ids=ids)

    def to_frame(self) -> pd.DataFrame:
        """Convert to a pandas DataFrame with a column per component.

        Returns
        -------
        pandas.DataFrame of shape (num_nodes, n_components)
            The index, named "id", contains the node ids; columns are named "0", "1" and so on, as in a Parquet file of
            ``layout="wide"``. In the default layout, ``pandas.read_parquet`` gives a column of arrays.

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> embedding = Embedding([[1, 0], [0, 1]], ids=["ann", "bob"])
        >>> embedding.to_frame().loc["bob"].tolist()
        [0.0, 1.0]
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("Embedding.to_frame requires pandas: pip install pandas") from error
        columns = [str(i) for i in range(self.n_components)]
        return pd.DataFrame(self.vectors.copy(), index=pd.Index(self.ids.copy(), name="id"), columns=columns)

    def plot(
        self,
        color: ArrayLike | Mapping[Any, Any] | None = None,
        *,
        ax: Axes | None = None,
        perplexity: float = 30,
        max_nodes: int = 200_000,
        random_state: RandomState = 0,
    ) -> Axes:
        """Draw a map of the embedding in two dimensions, by t-SNE.

        Parameters
        ----------
        color : array-like of shape (num_nodes,) or mapping, default=None
            A category, number or date for each node, in order or by id; see
            `graphprox.visualization.EmbeddingMap.plot`.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; a new figure of pyplot if None.
        perplexity, max_nodes, random_state
            As in `graphprox.visualization.map_embedding`, which returns the coordinates.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> Embedding([[1, 0], [0, 1], [1, 1]]).plot(["cat", "dog", "cat"], ax=Figure().add_subplot()).get_xlabel()
        'PCA of 3 nodes'
        """
        from graphprox.preprocessing.column_values import read_values
        from graphprox.visualization.coloring import to_column
        from graphprox.visualization.embedding_map import map_embedding

        is_ordered = color is not None and not isinstance(color, Mapping)
        column = read_values("color", to_column(color, self.num_nodes)) if is_ordered else None
        found = map_embedding(self, perplexity=perplexity, max_nodes=max_nodes, random_state=random_state)
        if column is not None:
            color = column.take(found.nodes)
        return found.plot(color, ax=ax)

    def __len__(self) -> int:
        return self.num_nodes

    def __iter__(self) -> Iterator[int | str]:
        """Iterate over the node ids."""
        return iter(self.ids.tolist())

    def __contains__(self, node: object) -> bool:
        return is_id(node) and node in self._row_of

    def __getitem__(self, node: int | str) -> NDArray[Any]:
        """Return the vector of a node, by its id."""
        vector: NDArray[Any] = self.vectors[self._find_row(node)]
        return vector

    def __reduce__(self) -> tuple[type[Embedding], tuple[Any, Any]]:
        return type(self), (self.vectors, self.ids)  # arrays are read-only after unpickling, too

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.vectors, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return f"Embedding({self.num_nodes} nodes, {self.n_components} components)"


def check_vectors(vectors: ArrayLike) -> NDArray[Any]:
    """Validate a matrix of numbers with a row per node; NaN and infinity are not checked.

    Parameters
    ----------
    vectors : array-like of shape (num_nodes, n_components)
        The vectors.

    Returns
    -------
    ndarray of shape (num_nodes, n_components)
        The array itself if it is float32 or float64; other floats and integers are converted.

    Raises
    ------
    ParameterError
        If it is not a matrix of real numbers.

    Examples
    --------
    >>> check_vectors([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    if hasattr(vectors, "toarray"):
        raise ParameterError(
            "an embedding must be a dense matrix, a row per node; got a sparse one: call its toarray()"
        )
    try:
        matrix = vectors.vectors if isinstance(vectors, Embedding) else np.asarray(vectors)
    except (TypeError, ValueError, RuntimeError) as error:  # rows of different lengths; a tensor that requires grad
        reason = " ".join(str(error).split()).partition(". ")[0]
        raise ParameterError(f"an embedding must be a matrix of numbers, a row per node; {reason}") from None
    if matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype.kind not in "iuf":
        raise ParameterError(
            f"an embedding must be a matrix of numbers, a row per node; got {matrix.dtype} of shape {matrix.shape}"
        )
    is_double = matrix.dtype.kind == "f" and matrix.dtype.itemsize >= 8
    with np.errstate(over="ignore"):  # a long double that is too large becomes inf, which check_finite rejects
        return matrix.astype(np.float64 if is_double else np.float32, copy=False)


def check_finite(vectors: NDArray[Any], ids: NodeIds) -> None:
    """Raise an error that names the first node whose vector contains NaN or infinity.

    Parameters
    ----------
    vectors : ndarray of shape (num_nodes, n_components)
    ids : ndarray of shape (num_nodes,)
        Node ids for the message.

    Raises
    ------
    ParameterError
        If a value is not finite.
    """
    size = max(1, _VALUES_PER_BLOCK // vectors.shape[1])
    for start in range(0, len(vectors), size):
        block = vectors[start : start + size]
        # The minimum and maximum reveal NaN and infinity without allocating a boolean matrix.
        if not (np.isfinite(block.min()) and np.isfinite(block.max())):
            row, column = np.argwhere(~np.isfinite(block))[0].tolist()
            node = ids[start + row : start + row + 1].tolist()[0]
            raise ParameterError(
                f"vectors must be finite; node {node!r} has {block[row, column]} in component {column}"
            )
        release_pages(vectors)


def _freeze_vectors(vectors: NDArray[Any], *, given: object) -> NDArray[Any]:
    if isinstance(given, Embedding):
        return given.vectors
    # A file mapped in mode "r" is read-only already; a copy would fill the memory that mapping saves.
    if isinstance(given, np.memmap) and given.mode == "r":
        return vectors
    return freeze(vectors, given=given)
