"""The default method in parts: what a graph is embedded by, and how that is chosen without labels.

preparation (term weights, leading directions) ─► outputs (one per proximity) ─► criteria ─► selection ─► combination

:class:`graphprox.AutoEmbedder` puts them together.
"""
