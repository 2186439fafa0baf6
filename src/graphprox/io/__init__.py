"""Readers and writers of graphs and embeddings."""

from graphprox.io.embedding_reader import read_embedding
from graphprox.io.embedding_writer import write_embedding
from graphprox.io.graph_reader import read_graph
from graphprox.io.label_sets import LabelSets, read_label_sets
from graphprox.io.sql.sql_reader import read_sql

__all__ = ["LabelSets", "read_embedding", "read_graph", "read_label_sets", "read_sql", "write_embedding"]
