"""Embedding by several processes, on one machine or on many, started by torchrun.

    launch ─► processes ─► collectives ─► halo ─► encoder

Sums over nodes are added up by all-reduce, so that the loss and its gradient are those of one process. Each process
owns a contiguous range of rows; an encoder that propagates along edges fetches the other rows that its edges come from.
"""
