"""Types of the fields of options, for views, encoders and objectives of other packages.

They are pydantic types with an error message of one sentence.

Examples
--------
>>> from graphprox.fields import PositiveInt
>>> from graphprox.views import ViewOptions
>>> class DegreeOptions(ViewOptions):
...     bins: PositiveInt = 8
>>> DegreeOptions(bins=0)
Traceback (most recent call last):
graphprox.errors.ParameterError: views.*.bins must be a positive integer; got 0
"""

from graphprox._utils.options_model import NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, Probability

__all__ = ["NonNegativeFloat", "NonNegativeInt", "PositiveFloat", "PositiveInt", "Probability"]
