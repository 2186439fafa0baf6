"""The topology view: nodes with similar local structure, however far apart they are.

The Weisfeiler-Lehman kernel compares the subgraph around every node with those around a few landmarks, and Nyström's
method turns the result into vectors whose inner products approximate the full kernel: Algorithm 1 of the paper.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import StrictBool
from threadpoolctl import threadpool_limits

from graphprox._utils.checks import check_integer, check_tolerance
from graphprox._utils.options_model import Amount, Iterations, WalkBias
from graphprox._utils.progress import Progress
from graphprox.graph.graph import Graph
from graphprox.views.base import ViewOptions, register_view

SubgraphKind = Literal["walks", "egonet"]


class TopologyOptions(ViewOptions):
    """Options of `topology_descriptor`, which describes them in full.

    Parameters
    ----------
    subgraphs : {"walks", "egonet"}, default="walks"
        The subgraph around a node: what its random walks visit, or all nodes within ``hops``.
    num_walks, walk_length : int, default=30, 10
        Number of random walks per node, and of the steps of each.
    p, q : float, default=1.0
        Return and in-out parameter of node2vec's second-order walks.
    hops : int, default=2
        Radius of egonets.
    iterations : int, default=3
        Iterations of the Weisfeiler-Lehman kernel.
    num_landmarks : int, default=200
        Number of random nodes with which all nodes are compared.
    normalize : bool, default=False
        Whether to normalize the kernel.
    k_min, k_max : int, optional
        The view's own range of k, as in `ViewOptions`.
    """

    prefix: ClassVar[str] = "views.topology."

    subgraphs: SubgraphKind = "walks"
    num_walks: Amount = 30
    walk_length: Amount = 10
    p: WalkBias = 1.0
    q: WalkBias = 1.0
    hops: Amount = 2
    iterations: Iterations = 3
    num_landmarks: Amount = 200
    normalize: StrictBool = False


DEFAULTS = TopologyOptions()


@register_view("topology", options=TopologyOptions)
def topology_descriptor(
    graph: Graph,
    rng: Generator,
    *,
    subgraphs: str = DEFAULTS.subgraphs,
    num_walks: int = DEFAULTS.num_walks,
    walk_length: int = DEFAULTS.walk_length,
    p: float = DEFAULTS.p,
    q: float = DEFAULTS.q,
    hops: int = DEFAULTS.hops,
    iterations: int = DEFAULTS.iterations,
    num_landmarks: int = DEFAULTS.num_landmarks,
    normalize: bool = DEFAULTS.normalize,
    exact: bool = False,
    tolerance: float = 1e-10,
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Compare nodes by the shape of the subgraph around them.

    Features, edge directions and self-loops are ignored; edge weights affect only the random walks. The subgraph of
    an isolated node is the node itself. Nodes whose subgraphs have equal kernels have bitwise equal vectors.

    Parameters
    ----------
    graph : Graph
    rng : Generator
        Source of randomness. The result depends on its state, but not on the number of threads.
    subgraphs : {"walks", "egonet"}, default="walks"
        The subgraph around a node: the nodes that its random walks visit, or all nodes within ``hops``, which can be
        half of the graph if there are hubs.
    num_walks : int, default=30
        Number of random walks per node.
    walk_length : int, default=10
        Number of steps of a walk.
    p, q : float, default=1.0
        Return and in-out parameter of node2vec's second-order walks.
    hops : int, default=2
        Radius of egonets.
    iterations : int, default=3
        Iterations of the Weisfeiler-Lehman kernel. Initial labels are degrees inside the subgraph, so 0 compares
        histograms of degrees.
    num_landmarks : int, default=200
        Number of random nodes with which all nodes are compared. If the graph has no more nodes than that, every node
        is a landmark and the inner products of the vectors are the kernel itself.
    normalize : bool, default=False
        Whether to normalize the kernel, so that the kernel of each subgraph with itself is 1, independent of its size.
    exact : bool, default=False
        Whether to use every node as a landmark.
    tolerance : float, default=1e-10
        Eigenvectors of the kernel among landmarks are discarded if their eigenvalue is below ``tolerance`` times the
        largest.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    ndarray of shape (num_nodes, rank)
        With rank <= num_landmarks. More than 2 GiB in single precision are stored in half precision, in a temporary
        file that is memory-mapped; rows that are too large for it are divided by a power of two.

    Examples
    --------
    >>> import numpy as np
    >>> from graphprox import Graph
    >>> star = Graph(x=[[1]] * 5, edge_index=[[0, 0, 0, 0], [1, 2, 3, 4]])
    >>> vectors = topology_descriptor(star, np.random.default_rng(0), subgraphs="egonet", hops=1)
    >>> vectors.shape
    (5, 2)
    >>> (vectors[1] == vectors[4]).all(), (vectors[0] == vectors[1]).all()
    (np.True_, np.False_)
    """
    from graphprox.views.local_structure.adjacency import to_adjacency  # compiled code is imported on demand
    from graphprox.views.local_structure.nystrom import (
        LandmarkKernel,
        compute_projection,
        project_kernel,
        sample_landmarks,
    )
    from graphprox.views.local_structure.subgraphs import make_sampler

    check_integer(min=0, max=1000, iterations=iterations)
    check_integer(num_landmarks=num_landmarks)
    check_tolerance(tolerance=tolerance)
    sampler = make_sampler(rng, subgraphs=subgraphs, num_walks=num_walks, walk_length=walk_length, p=p, q=q, hops=hops)
    landmarks = sample_landmarks(graph.num_nodes, graph.num_nodes if exact else int(num_landmarks), rng)
    kernel = LandmarkKernel.build(landmarks, to_adjacency(graph), sampler, int(iterations), normalize=bool(normalize))
    report = progress or _ignore_progress
    report("landmarks", 0, len(landmarks))
    # The matrix products are small: more threads would be slower, and round differently depending on their number.
    with threadpool_limits(1, user_api="blas"):
        among_landmarks, _ = kernel.compute_rows(landmarks)
        projection = compute_projection(among_landmarks, tolerance=tolerance)
        report("landmarks", len(landmarks), len(landmarks))
        return project_kernel(kernel, projection, graph.num_nodes, report)


def _ignore_progress(stage: str, done: int, total: int, note: str = "") -> None:
    """Report nothing."""
