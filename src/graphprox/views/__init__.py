"""Proximity views of a graph.

graph ─► descriptor (feature, topology, neighborhood) ─► search ─► Ranking ─► ranking.edge_index(k)
"""

import lazy_loader

# Imported on first use, as the stub lists them: torch and numba take seconds to import.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
