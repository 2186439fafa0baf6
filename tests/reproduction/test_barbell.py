from __future__ import annotations

import numpy as np

from graphprox.views import topology_descriptor
from reproduction.barbell import barbell_graph, project_to_plane, structure_classes


def test_nodes_of_equal_structure_have_equal_descriptors():
    descriptors = topology_descriptor(barbell_graph(), np.random.default_rng(0), subgraphs="egonet", hops=1, exact=True)
    classes = structure_classes(descriptors)
    clique, joint, bridge = classes[0], classes[5], classes[6]
    assert len({clique, joint, bridge}) == 3
    assert classes.tolist() == [*[clique] * 5, joint, bridge, bridge, joint, *[clique] * 5]
    assert len(np.unique(project_to_plane(descriptors), axis=0)) == 3
