"""The local structure of nodes: random walks, sampled subgraphs, and the Weisfeiler-Lehman kernel between them.

adjacency ─► walks ─► subgraphs ─► wl_kernel. All modules are compiled by numba and imported on demand.
"""
