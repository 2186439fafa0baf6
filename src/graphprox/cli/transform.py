"""graphprox transform: vectors of a graph by a saved model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from graphprox.cli.embedding_options import DeviceOption, ForceOutputOption, LayoutOption, OutOption, TableOption
from graphprox.cli.embedding_summary import print_summary
from graphprox.cli.fitting import load_graph_for
from graphprox.cli.graph_source import GraphSource, reads_graph
from graphprox.cli.options import JsonOption
from graphprox.cli.outputs import writes
from graphprox.cli.progress_display import show_stage
from graphprox.embedding import Embedding
from graphprox.io.embedding_writer import check_writable, embedding_outputs, write_embedding


@reads_graph(labels=False, kinds=False)
@writes({"out": embedding_outputs})
def transform_graph(
    source: GraphSource,
    out: OutOption,
    model: Annotated[
        Path, typer.Option("--model", metavar="DIR", help="Folder that embed --model has written.", show_default=False)
    ],
    layout: LayoutOption = None,
    table: TableOption = None,
    force: ForceOutputOption = False,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Embed a graph with a saved model: the same graph grown, or another one with the same features.

    Nothing is trained or chosen again. New nodes need the rows and edges of their neighbors, too: give the whole grown
    graph. The output has all its nodes. A model of auto that was fitted without features embeds graphs that share nodes
    with the fitted one.

    Examples:

    - `graphprox transform Cora --data DIR --model model --out again.parquet`
    - `graphprox transform grown.csv --features words.npz --model model --out grown.parquet`
    """
    start = time.perf_counter()
    check_writable(out, layout, table, overwrite=force)
    from graphprox.methods.model_loading import load_embedder

    estimator = load_embedder(model, device=device)
    recipe = getattr(estimator, "recipe_", None)
    graph = load_graph_for(source, estimator, encoder=estimator.preprocessor_.encoder)
    with show_stage(str(model), "transforming"):
        embedding = Embedding(estimator.transform(graph), graph.ids)
    with show_stage(str(out), "writing"):
        written = write_embedding(out, embedding, layout=layout, table=table, overwrite=force)
    print_summary(
        as_json,
        written=written,
        shape=embedding.shape,
        seconds=time.perf_counter() - start,
        method=estimator.name if recipe is None else recipe.method,
        epochs=None if recipe is None else recipe.epochs,
        loss=None,
        model=str(model),
    )
