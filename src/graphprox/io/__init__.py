"""Readers and writers of graphs and embeddings."""

from graphprox.io.embedding_reader import read_embedding
from graphprox.io.embedding_writer import write_embedding
from graphprox.io.graph_reader import read_graph

__all__ = ["read_embedding", "read_graph", "write_embedding"]
