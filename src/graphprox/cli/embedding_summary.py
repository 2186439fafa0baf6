"""What ``graphprox embed`` and ``graphprox transform`` print at their end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from graphprox._utils.amounts import to_megabytes
from graphprox._utils.memory import peak_memory
from graphprox._utils.strict_json import dump_json
from graphprox.cli.fitting import explains

if TYPE_CHECKING:
    from graphprox.auto.selection import Selection
    from graphprox.methods import GraphEmbedder


def describe_fitted(estimator: GraphEmbedder) -> dict[str, Any]:
    """Return method, epochs and loss of a fitted embedder, and what it has kept if it explains itself."""
    losses = getattr(estimator, "loss_curve_", None)
    about: dict[str, Any] = {
        "method": estimator.name if losses is None else estimator.recipe_.method,
        "epochs": None if losses is None else len(losses),
        "loss": None if losses is None or not len(losses) else float(losses[-1]),
    }
    if not explains(estimator):
        return about
    selection: Selection = estimator.selection_
    kept = {
        "choice": selection.choice,
        "scores": dict(selection.scores),
        "ratio": selection.ratio,
        "weights": dict(estimator.combination_.weights),
    }
    return {**about, "selection": kept}


def print_summary(as_json: bool, *, written: list[Path], shape: tuple[int, int], seconds: float, **about: Any) -> None:
    """Print what was written: a line, or JSON.

    Parameters
    ----------
    as_json : bool
    written : list of Path
    shape : tuple of int
        Number of nodes and of components.
    seconds : float
    **about
        Method, epochs, loss and folder of the model, as `describe_fitted` has them, and in JSON whatever else is given.
    """
    nodes, dim = shape
    if as_json:
        costs = {"seconds": round(seconds, 2), "peak_memory_mb": to_megabytes(peak_memory())}
        summary = {"files": [str(path) for path in written], "nodes": nodes, "dim": dim, **about, **costs}
        print(dump_json(summary, indent=2))
        return
    epochs = "" if about["epochs"] is None else f", {about['epochs']} epoch{'s' * (about['epochs'] != 1)}"
    loss = "" if about["loss"] is None else f", loss {about['loss']:.4f}"
    model = "" if about["model"] is None else f"; model in {about['model']}"
    Console(highlight=False, emoji=False, markup=False, soft_wrap=True).print(
        f"{', '.join(map(str, written))}: {nodes:,} nodes, {dim:,} components, by {about['method']}"
        f"{epochs}{loss}, {seconds:.1f} s{model}"
    )
