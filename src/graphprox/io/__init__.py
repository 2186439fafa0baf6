"""Between a user's files and the first array, and from the last array to a user's file."""

from graphprox.io.embedding import write_embedding
from graphprox.io.embedding_files import read_embedding
from graphprox.io.read import read_graph

__all__ = ["read_embedding", "read_graph", "write_embedding"]
