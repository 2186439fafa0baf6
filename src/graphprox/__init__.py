"""Node embeddings without labels, from three kinds of proximity: edges, features, local structure.

Examples
--------
>>> import graphprox
>>> graph = graphprox.load("synthetic").graph
>>> graphprox.embed(graph, n_components=8)
Embedding(840 nodes, 8 components)
>>> graphprox.DGI(n_components=8, epochs=2).fit_transform(graph).shape
(840, 8)
"""

import lazy_loader

__version__ = "0.2.0"

# Names are imported when they are used: torch takes longer to import than most commands take to run. They are listed
# in __init__.pyi, which type checkers read too.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
