"""What to train and how: a Recipe is a training run as data."""

from graphprox.training.recipe import Recipe

__all__ = ["Recipe"]
