from __future__ import annotations

import numpy as np

from graphprox.experiments.barbell import barbell, in_the_plane, structure_classes
from graphprox.proximity import topology


def test_nodes_of_equal_structure_coincide():
    vectors = topology(barbell(), np.random.default_rng(0), subgraphs="egonet", hops=1, exact=True)
    classes = structure_classes(vectors)
    clique, joint, bridge = classes[0], classes[5], classes[6]
    assert len({clique, joint, bridge}) == 3
    assert classes.tolist() == [*[clique] * 5, joint, bridge, bridge, joint, *[clique] * 5]
    plane = in_the_plane(vectors)
    assert len(np.unique(plane, axis=0)) == 3
