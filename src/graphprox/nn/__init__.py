"""Building blocks of models: encoders, objectives, the projection head and sparse kernels.

    features, edges ─► encoder ─► projection head ─► objective

Encoders and objectives are extension points: each is one file of :mod:`graphprox.nn.encoders` or
:mod:`graphprox.nn.objectives`, registered where it is defined.
"""
