"""From tables of edges, features and labels to a graph folder, in memory that does not depend on their size."""
