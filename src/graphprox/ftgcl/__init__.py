"""The method of the paper and its family.

estimators.py   FTGCL and its family: what each contrasts
recipe.py       Recipe: a training run as data
trainer.py      the training loop
model.py        the trained encoder
"""

import graphprox.ftgcl.recipe_fields  # noqa: F401 - sets the suggestions in messages about unknown fields
from graphprox.ftgcl.recipe import Recipe

__all__ = ["Recipe"]
