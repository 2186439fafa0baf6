"""Nearest neighbors by cosine similarity: from a matrix with a row per node to a `Ranking`.

matrix ─► directions (distinct unit rows) ─► engines (candidates) ─► neighbor_search.rank (ties, recall) ─► Ranking
"""

from graphprox.views.search.engines import AUTO, ENGINES
from graphprox.views.search.neighbor_search import rank

__all__ = ["AUTO", "ENGINES", "rank"]
