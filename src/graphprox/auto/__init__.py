"""The default method in parts: what a graph is embedded by, and how that is chosen without labels.

preparation (weights of columns, leading directions) ─► outputs (one per proximity) ─► criteria ─► selection
─► combination. Outputs and combination share spreading: diffusion over edges and over similar nodes.

:class:`graphprox.AutoEmbedder` puts them together.
"""
