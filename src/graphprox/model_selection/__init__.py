"""Compare methods on a graph, and select their settings by validation accuracy.

compare(dataset, methods)              accuracy, time and memory of several methods
tune(graph, candidates)                validation accuracy of a method with several settings
training_curve(graph, method, epochs)  validation accuracy after more and more epochs of one training
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphprox.model_selection.comparison import MethodResult, compare, plot_comparison, select_methods
    from graphprox.model_selection.curves import CurvePoint, training_curve
    from graphprox.model_selection.tuning import Candidate, TuningResult, make_candidates, selection_splits, tune

# Imported on first use, as they import scikit-learn.
_MODULES = {
    "Candidate": "tuning",
    "CurvePoint": "curves",
    "MethodResult": "comparison",
    "TuningResult": "tuning",
    "compare": "comparison",
    "make_candidates": "tuning",
    "plot_comparison": "comparison",
    "select_methods": "comparison",
    "selection_splits": "tuning",
    "training_curve": "curves",
    "tune": "tuning",
}

__all__ = [
    "Candidate",
    "CurvePoint",
    "MethodResult",
    "TuningResult",
    "compare",
    "make_candidates",
    "plot_comparison",
    "select_methods",
    "selection_splits",
    "training_curve",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
