"""Methods with settings that are small enough for a test."""

from __future__ import annotations

from typing import Any

from graphprox.methods import METHODS, GraphMethod, NodeClassifier

SMALL: dict[str, Any] = {
    "n_components": 8,
    "hidden_channels": 8,
    "head_channels": 8,
    "epochs": 2,
    "latent_epochs": 3,
    "num_walks": 2,
    "walk_length": 8,
    "window_size": 2,
    "heads": 2,
    "device": "cpu",
    "cache": False,
}
EMBEDDERS = [name for name in METHODS if not issubclass(METHODS[name], NodeClassifier)]
CLASSIFIERS = [name for name in METHODS if issubclass(METHODS[name], NodeClassifier)]


def small(name: str, **parameters: Any) -> GraphMethod:
    """Return the method of a name, with small settings where it has them."""
    kind = METHODS[name]
    known = kind.parameters()
    sizes = {each: value for each, value in SMALL.items() if each in known}
    if name == "untrained":
        del sizes["epochs"]
    return kind(**(sizes | parameters))
