"""The methods by name: the family of FT-GCL as recipes, and every other system."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphprox.methods.registry import METHODS, method_for

__all__ = ["METHODS", "method_for"]


def __getattr__(name: str) -> Any:
    """What is imported when it is asked for, as it brings torch."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("graphprox.methods.registry"), name)
