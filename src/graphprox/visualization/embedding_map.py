"""Maps of embeddings: a point in the plane for every node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from graphprox._utils.arrays import FloatArray, IntArray, NodeIds, ReadOnlyArrays, freeze
from graphprox._utils.checks import check_integer
from graphprox._utils.figures import new_figure
from graphprox._utils.outcome import is_collapsed, warn_if_alike, warn_if_collapsed
from graphprox._utils.random import RandomState, check_seed
from graphprox._utils.stacklevel import warn
from graphprox.embedding import Embedding
from graphprox.errors import IgnoredInputWarning, ParameterError, WriteError
from graphprox.io.storage.files import atomic_write
from graphprox.visualization.trustworthiness import measure_trustworthiness, neighborhood_size
from graphprox.visualization.tsne import MIN_NODES, check_extra, lay_out, to_directions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MIN_MEASURED = 20  # nodes whose trustworthiness is measured
MAX_NODES = 200_000  # t-SNE of more takes long, and their points hide each other
FIGURE_SIZE = (8.0, 6.5)  # in inches
_MAP_ENDINGS = (".csv", ".parquet")


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddingMap(ReadOnlyArrays):
    """A map of an embedding: a point in the plane for every node, near for similar nodes.

    Attributes
    ----------
    points : ndarray of shape (num_nodes, 2)
        Coordinates. Neither axes nor distances between far points have a meaning.
    ids : ndarray of shape (num_nodes,)
        Node ids.
    nodes : ndarray of shape (num_nodes,)
        Row numbers of the nodes in the embedding.
    trustworthiness : float or None
        Whether near nodes of the map are near in the embedding: 1 if all are, about 0.5 for a random map. Measured on
        a sample of 1,000 nodes; None for fewer than 20 nodes, or if all vectors have the same direction.
    layout : {"t-SNE", "PCA"}
        How nodes were placed.
    n_neighbors : int
        Number of neighbors at which trustworthiness was measured.

    Examples
    --------
    >>> import numpy as np
    >>> from graphprox import Embedding
    >>> from graphprox.visualization import map_embedding
    >>> map_embedding(Embedding(np.eye(3), ids=["ann", "bob", "cy"]))
    EmbeddingMap(PCA of 3 nodes)
    """

    points: FloatArray
    ids: NodeIds
    nodes: IntArray
    trustworthiness: float | None = None
    layout: str = "t-SNE"
    n_neighbors: int = 10

    def plot(
        self,
        color: ArrayLike | Mapping[Any, Any] | None = None,
        *,
        ax: Axes | None = None,
        title: str = "",
        color_title: str = "",
    ) -> Axes:
        """Draw the map.

        Parameters
        ----------
        color : array-like of shape (num_nodes,) or mapping, default=None
            A category, number or date for each node of the map in order, or by id, read by the rules for columns of
            features. Numbers and dates get a color bar, up to twelve categories a legend; of more, the rarest are
            "other". Nodes without a value are light gray.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; those of a new figure of pyplot if None.
        title : str, default=""
            Title of the map.
        color_title : str, default=""
            Title of the legend or color bar, such as the name of a column.

        Returns
        -------
        matplotlib.axes.Axes
            ``plot(...).figure.savefig(file)`` writes it.

        Raises
        ------
        WriteError
            If matplotlib is not installed.
        GraphError
            If a value is no number or date while the others are.

        Examples
        --------
        >>> from graphprox import Embedding
        >>> from graphprox.visualization import map_embedding
        >>> from matplotlib.figure import Figure
        >>> people = map_embedding(Embedding([[1, 0], [0, 1], [1, 1]], ids=["ann", "bob", "cy"]))
        >>> axes = people.plot({"ann": "cat", "bob": "dog"}, ax=Figure().add_subplot())
        >>> [text.get_text() for text in axes.get_legend().get_texts()]
        ['cat', 'dog', 'unknown']
        """
        from graphprox.visualization.coloring import to_coloring
        from graphprox.visualization.scatter import draw

        coloring = None if color is None else to_coloring(color, self.ids, color_title or "color")
        axes = _new_axes() if ax is None else ax
        draw(axes, self.points, coloring, title=title, caption=self.caption, color_title=color_title)
        return axes

    @property
    def caption(self) -> str:
        """One line about how the map was made, and how far to trust it."""
        made = f"{self.layout} of {len(self.ids):,} nodes"
        if self.trustworthiness is None:
            return made
        return f"{made}; trustworthiness {self.trustworthiness:.3f} at {self.n_neighbors} neighbors"

    def save(self, path: str | Path) -> Path:
        """Write the coordinates to a file, atomically.

        Parameters
        ----------
        path : str or Path
            A ``.csv`` or ``.parquet`` file, with the columns ``id``, ``x`` and ``y``.

        Returns
        -------
        Path
            The file that was written.

        Raises
        ------
        WriteError
            If the ending is another one, or the file cannot be written.
        """
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.parquet

        path = Path(path)
        check_map_file(path)
        x, y = np.ascontiguousarray(self.points.T)
        table = pa.table({"id": pa.array(self.ids.tolist()), "x": x, "y": y})
        with atomic_write(path) as (staged,):
            if path.suffix.lower() == ".csv":
                pa.csv.write_csv(table, staged, pa.csv.WriteOptions(quoting_style="needed"))
            else:
                pa.parquet.write_table(table, staged)
        return path

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"EmbeddingMap({self.caption})"


def map_embedding(
    embedding: Embedding | ArrayLike,
    *,
    perplexity: float = 30,
    max_nodes: int = MAX_NODES,
    random_state: RandomState = 0,
) -> EmbeddingMap:
    """Map an embedding to the plane by t-SNE (openTSNE), from the nearest nodes by cosine.

    Nodes start from their principal components. Fewer than ten nodes are placed by principal components alone.

    Parameters
    ----------
    embedding : Embedding or array-like of shape (num_nodes, n_components)
        The vectors.
    perplexity : float, default=30
        Number of neighbors that count for each node, at least 1; less is used if there are fewer than 90 nodes.
    max_nodes : int, default=200000
        A random sample of so many nodes is mapped if there are more, with a warning.
    random_state : int, RandomState, Generator or None, default=0
        Random seed. The same integer gives the same bytes, for any number of threads.

    Returns
    -------
    EmbeddingMap

    Raises
    ------
    ParameterError
        If a parameter is invalid, or openTSNE is not installed.

    Warns
    -----
    IgnoredInputWarning
        If there are more than ``max_nodes`` nodes.
    CollapsedEmbeddingWarning
        If all vectors have the same direction, or nearly so: the map shows nothing.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = np.random.default_rng(0).normal(size=(50, 4))
    >>> map_embedding(vectors).points.shape
    (50, 2)
    """
    check_extra()
    check_integer(max_nodes=max_nodes, min=2, max=10**9)
    if isinstance(perplexity, bool) or not isinstance(perplexity, int | float) or not 1 <= perplexity <= 10_000:
        raise ParameterError(f"perplexity must be a number between 1 and 10000; got {perplexity!r}")
    seed = check_seed(random_state)
    given = embedding if isinstance(embedding, Embedding) else Embedding(embedding)
    nodes = _sample(given.num_nodes, max_nodes, seed)
    unit = to_directions(given.vectors[nodes])
    warn_if_alike(warn_if_collapsed(unit))
    points = lay_out(unit, perplexity=float(perplexity), seed=seed)
    # Of a few nodes nearly all are neighbors, and of equal vectors any are: a figure would look good.
    measured = len(unit) >= MIN_MEASURED and not is_collapsed(unit)
    return EmbeddingMap(
        freeze(points),
        freeze(given.ids[nodes]),
        freeze(nodes),
        measure_trustworthiness(unit, points, seed=seed) if measured else None,
        layout="PCA" if len(unit) < MIN_NODES else "t-SNE",
        n_neighbors=neighborhood_size(len(unit)),
    )


def check_map_file(path: Path) -> None:
    """Check that coordinates can be written to a file.

    Parameters
    ----------
    path : Path

    Raises
    ------
    WriteError
        If its ending is neither .csv nor .parquet.
    """
    if path.suffix.lower() not in _MAP_ENDINGS:
        raise WriteError(
            f"the ending of a file of coordinates must be one of {', '.join(_MAP_ENDINGS)}; got {path.name!r}"
        )


def _sample(num_nodes: int, max_nodes: int, seed: int) -> IntArray:
    if num_nodes <= max_nodes:
        return np.arange(num_nodes)
    warn(
        f"a map has at most {max_nodes:,} nodes, and the embedding has {num_nodes:,}: a random sample is mapped",
        IgnoredInputWarning,
    )
    return np.sort(np.random.default_rng([seed, max_nodes]).permutation(num_nodes)[:max_nodes])


def _new_axes() -> Axes:
    new_figure(1, 1)  # raises an error of one sentence if matplotlib is not installed
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=FIGURE_SIZE, layout="constrained")
    return axes
