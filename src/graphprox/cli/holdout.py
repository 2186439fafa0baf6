"""graphprox holdout: a graph without the edges that link prediction asks for."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from graphprox.cli.options import (
    DataOption,
    DirectedOption,
    FeaturesOption,
    GraphArgument,
    HeaderOption,
    JsonOption,
    SeedOption,
    VerboseOption,
)
from graphprox.errors import StructuralFeaturesWarning
from graphprox.loading import load
from graphprox.splits import EdgeSplit, edge_split

VALIDATION, TEST = 0.05, 0.1


def holdout(
    graph: GraphArgument,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Where the rest goes: an .npz file.", show_default=False)
    ],
    seed: SeedOption = 0,
    validation: Annotated[float, typer.Option("--validation", help="Share of the edges to choose by.")] = VALIDATION,
    test: Annotated[float, typer.Option("--test", help="Share of the edges to report on.")] = TEST,
    features: FeaturesOption = None,
    directed: DirectedOption = None,
    header: HeaderOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Hold out edges of a graph, and write the rest: what an embedding may see whose links are to be predicted.

    Nodes keep their ids and features; labels are left out. `graphprox evaluate --task links` with the same graph,
    options and seed asks for the edges that were held out.

    Examples:

    - `graphprox holdout Cora --data DIR --out rest.npz`
    - `graphprox holdout edges.csv --features words.npz --seed 3 --out rest.npz`
    """
    from graphprox.evaluation.holdout import check_ending, write_rest

    check_ending(out)
    with warnings.catch_warnings():
        # Features that stand in are not written: whoever reads the rest makes them anew, and says so.
        warnings.simplefilter("ignore", StructuralFeaturesWarning)
        loaded = load(graph, data=data, features=features, directed=directed, header=header).graph
    split = edge_split(loaded, seed=seed, validation=validation, test=test)
    write_rest(out, loaded, split)
    counts = _counts(loaded.num_edges, split)
    if as_json:
        print(json.dumps({"file": str(out), "seed": seed, "directed": loaded.directed, **counts}, indent=2))
        return
    kept = f"{counts['nodes']:,} nodes, {counts['kept']:,} of {counts['edges']:,} edges"
    held = f"{counts['validation']:,} pairs to validate and {counts['test']:,} to test are held out, by seed {seed}"
    as_directed = "; it must be read with --directed, as the file does not say so" if loaded.directed else ""
    console = Console(highlight=False, emoji=False, markup=False, soft_wrap=True)
    console.print(f"{out}: {kept}; {held}{as_directed}")


def _counts(edges: int, split: EdgeSplit) -> dict[str, int]:
    return {
        "nodes": split.graph.num_nodes,
        "edges": edges,
        "kept": split.graph.num_edges,
        "validation": split.validation_edges.shape[1],
        "test": split.test_edges.shape[1],
    }
