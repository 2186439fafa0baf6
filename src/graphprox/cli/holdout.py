"""graphprox holdout: a graph without the edges that link prediction is tested on."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from graphprox._utils.strict_json import dump_json
from graphprox.cli.graph_source import GraphSource, reads_graph
from graphprox.cli.options import JsonOption, SeedOption
from graphprox.cli.outputs import one_file, writes
from graphprox.errors import StructuralFeaturesWarning
from graphprox.graph.splits import TEST_EDGES, VAL_EDGES, EdgeSplit, edge_split


@reads_graph(labels=False)
@writes({"out": one_file}, creates_parents=False)
def hold_out_edges(
    source: GraphSource,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="An .npz file for the remaining graph.", show_default=False)
    ],
    seed: SeedOption = 0,
    val: Annotated[
        float, typer.Option("--val", metavar="SHARE", help="Share of the edges to validate on.")
    ] = VAL_EDGES,
    test: Annotated[float, typer.Option("--test", metavar="SHARE", help="Share of the edges to test on.")] = TEST_EDGES,
    as_json: JsonOption = False,
) -> None:
    """Hold out edges of a graph for link prediction, and write the remaining graph.

    Nodes keep their ids and features; labels are left out. Embed that graph, then run `graphprox evaluate --task links`
    with the whole graph, the same options and the same seed.

    Examples:

    - `graphprox holdout Cora --data DIR --out rest.npz`
    - `graphprox holdout edges.csv --features words.npz --seed 3 --out rest.npz`
    """
    from graphprox.evaluation.edge_holdout import check_suffix, write_training_graph

    check_suffix(out)
    with warnings.catch_warnings():
        # Structural features are not written: they are computed again from the remaining edges.
        warnings.simplefilter("ignore", StructuralFeaturesWarning)
        graph = source.load().graph
    split = edge_split(graph, random_state=seed, val=val, test=test)
    write_training_graph(out, graph, split)
    counts = _counts(graph.num_edges, split)
    if as_json:
        print(dump_json({"file": str(out), "seed": seed, "directed": graph.directed, **counts}, indent=2))
        return
    kept = f"{counts['nodes']:,} nodes, {counts['kept']:,} of {counts['edges']:,} edges"
    held_out = f"{counts['val']:,} validation and {counts['test']:,} test pairs held out with seed {seed}"
    hint = "; read it with --directed, which the file does not record" if graph.directed else ""
    console = Console(highlight=False, emoji=False, markup=False, soft_wrap=True)
    console.print(f"{out}: {kept}; {held_out}{hint}")


def _counts(edges: int, split: EdgeSplit) -> dict[str, int]:
    return {
        "nodes": split.graph.num_nodes,
        "edges": edges,
        "kept": split.graph.num_edges,
        "val": split.val_edges.shape[1],
        "test": split.test_edges.shape[1],
    }
