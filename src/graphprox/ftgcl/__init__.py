"""What to train and how: a Recipe is a training run as data."""

from graphprox.ftgcl.recipe import Recipe

__all__ = ["Recipe"]
