"""graphprox embed: from a graph to a vector for each of its nodes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphprox._utils.defaults import AUTO, DEFAULT_METHOD, DEFAULT_TRAINED_METHOD
from graphprox._utils.figures import check_figure
from graphprox._utils.team import keep_own_rows
from graphprox._utils.work_folder import use_work_folder
from graphprox.cli.disk_forecast import list_disk_uses
from graphprox.cli.dry_run import DryRunOption, IgnoreMemoryOption, announce_forecast, print_forecast
from graphprox.cli.embedding_options import (
    DeviceOption,
    LayoutOption,
    OutOption,
    TableOption,
    WorkFolderOption,
)
from graphprox.cli.embedding_summary import describe_fitted, print_summary
from graphprox.cli.fitting import (
    TRAINING_OPTIONS,
    can_be_saved,
    explains,
    fit_on_source,
    keep_stages_of,
    load_graph_for,
    remove_training,
    saves_while_training,
)
from graphprox.cli.graph_source import GraphSource, reads_graph
from graphprox.cli.new_folders import watch_new_folders
from graphprox.cli.options import (
    CacheOption,
    DimOption,
    EpochsOption,
    JsonOption,
    MethodOption,
    PresetOption,
    ScaleOption,
    SetOption,
    collect_settings,
)
from graphprox.cli.outputs import one_file, writes
from graphprox.cli.progress_display import show_stage
from graphprox.cli.ranks import is_first, several, was_restarted
from graphprox.cli.shared_embed import (
    check_is_shared,
    check_outputs_once,
    continue_if_restarted,
    gather_for_file,
    write_together,
)
from graphprox.errors import ParameterError
from graphprox.io.embedding_folder.embedding_claims import is_embedding_folder
from graphprox.io.embedding_writer import embedding_outputs
from graphprox.io.sql.sql_writer import is_database

if TYPE_CHECKING:
    from graphprox.forecast.disk import DiskUse
    from graphprox.ftgcl.base import ContrastiveEmbedder
    from graphprox.graph.graph import Graph
    from graphprox.methods import GraphEmbedder


@reads_graph(labels=False)
@writes({"out": embedding_outputs, "explain": one_file}, folders=["model"], logs=["tensorboard"])
def embed_graph(
    source: GraphSource,
    out: OutOption,
    method: MethodOption = DEFAULT_METHOD,
    preset: PresetOption = AUTO,
    dim: DimOption = None,
    epochs: EpochsOption = None,
    scale: ScaleOption = AUTO,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", min=0, help="Random seed. [default: 0]", show_default=False),
    ] = None,
    changes: SetOption = None,
    recipe: Annotated[
        Path | None,
        typer.Option(
            "--recipe", metavar="FILE", help="A recipe in TOML, instead of a method and a preset.", show_default=False
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", metavar="DIR", help="Save the model there, for transform and for --resume."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run that was stopped, if any.")] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace an older model, table, embedding folder or unfinished training run."),
    ] = False,
    checkpoint_every: Annotated[
        int | None,
        typer.Option(
            "--checkpoint-every", metavar="N", help="Epochs between checkpoints. [default: 20]", show_default=False
        ),
    ] = None,
    tensorboard: Annotated[
        Path | None, typer.Option("--tensorboard", metavar="DIR", help="Log the loss for TensorBoard there.")
    ] = None,
    explain: Annotated[
        Path | None,
        typer.Option(
            "--explain", metavar="FILE", help="Draw what auto found and kept: .png, .svg or .pdf.", show_default=False
        ),
    ] = None,
    layout: LayoutOption = None,
    table: TableOption = None,
    device: DeviceOption = "auto",
    cache: CacheOption = True,
    work_dir: WorkFolderOption = None,
    dry_run: DryRunOption = False,
    ignore_memory: IgnoreMemoryOption = False,
    as_json: JsonOption = False,
) -> None:
    """Embed a graph: a vector for every node, without labels.

    The default method, auto, trains nothing: it keeps the proximities that carry information in the graph, and prints
    what it found. `graphprox methods` lists the others.

    Ctrl-C or SIGTERM stops FT-GCL and its family after the current epoch and saves a checkpoint; the same command with
    `--resume` continues, and gives the same bytes as an uninterrupted run. With `--model`, a larger `--epochs` and
    `--resume` continue a finished training run of them. With `--model`, auto keeps each stage that is finished on a
    graph of more than 131,072 nodes, and `--resume` continues after it. Other methods start from the beginning.

    `--dry-run` forecasts time and memory, of this machine and within a factor of about 1.5, for auto and the FT-GCL
    family; for other methods, only the memory of their largest arrays. It shows the disk space of all files, too. What
    needs more memory than is available, or more disk space than is free, stops before any work.

    Examples:

    - `graphprox embed Cora --data DIR --out emb.parquet`
    - `graphprox embed edges.csv --features words.npz --out emb.csv --dim 128`
    - `graphprox embed Cora --out emb.parquet --model model --explain why.svg`
    - `graphprox embed Cora --out emb.parquet --method dgi --epochs 300 --seed 1`
    - `graphprox embed synthetic --out emb.npy --method f-gcl --set encoder=sage --model model`
    - `graphprox embed Cora --out emb.parquet --method ft-gcl --model model --epochs 200 --resume`
    - `graphprox embed "SELECT src, dst FROM follows" --database social.duckdb --out social.duckdb --table vectors`
    """
    start = time.perf_counter()
    folder = model or out.with_name(f"{out.name}.training")
    watch_new_folders(folder)
    # What continues a run may replace the folder that the run has written.
    replaces = force or (is_embedding_folder(out) and (resume or was_restarted()))
    check_outputs_once(out, layout, table, overwrite=replaces, work_dir=work_dir)
    # The method is resolved once, and an invalid setting is reported before anything is read.
    family = method if recipe is None else DEFAULT_TRAINED_METHOD
    settings = collect_settings(changes, method=family, dim=dim, epochs=epochs, scale=scale, options=TRAINING_OPTIONS)
    estimator = _make_embedder(source.name, method, preset, recipe, settings, seed)
    check_is_shared(estimator)
    if saves_while_training(estimator) or model is not None:
        resume, force = continue_if_restarted(folder, resume=resume, force=force)
    if explain is not None:
        _check_explains(estimator, explain)

    def list_uses(graph: Graph) -> list[DiskUse]:
        return list_disk_uses(estimator, graph, out=out, model=folder, is_saved=model is not None, work_dir=work_dir)

    if dry_run:
        graph = load_graph_for(source, estimator)
        print_forecast(
            estimator, graph, title=source.name, uses=list_uses(graph), as_json=as_json, ignore_memory=ignore_memory
        )
        return
    options = {
        "checkpoint_dir": model,
        "checkpoint_every": checkpoint_every,
        "resume": resume,
        "overwrite": None if _may_be_replaced(out) and not can_be_saved(estimator) else force,
        "device": device,
        "cache": cache,
    }

    def check(graph: Graph) -> None:
        if several() is None:  # the work of one process is forecast
            announce_forecast(estimator, graph, title=source.name, uses=list_uses(graph), ignore_memory=ignore_memory)

    # Each of several processes keeps the vectors of its own nodes.
    with keep_stages_of(estimator, model, resume=resume), keep_own_rows(save_model=model is not None):
        with use_work_folder(work_dir or out.parent):
            embedding, ids = fit_on_source(
                estimator, source, options, folder=folder, tensorboard=tensorboard, check=check
            )
        with show_stage(str(out), "writing"):
            embedding = gather_for_file(out, embedding, ids)
            written = write_together(out, embedding, layout=layout, table=table, overwrite=replaces)
    if explain is not None and is_first():
        written.append(_plot_selection(explain, estimator))
    if model is None and saves_while_training(estimator) and is_first():
        remove_training(folder)
    about = {**describe_fitted(estimator), "model": None if model is None else str(model)}
    shape = len(ids), embedding.n_components
    print_summary(as_json, written=written, shape=shape, seconds=time.perf_counter() - start, **about)
    if explains(estimator) and not as_json:
        print(estimator.explanation_)


def _make_embedder(
    dataset: str, method: str, preset: str, recipe: Path | None, settings: dict[str, Any], seed: int | None
) -> GraphEmbedder:
    from graphprox.methods.factory import make_embedder

    if recipe is None:
        return make_embedder(method, dataset=dataset, preset=preset, **settings, random_state=seed or 0)
    if (method, preset) != (DEFAULT_METHOD, AUTO):
        raise ParameterError("--recipe replaces --method and --preset; got both: leave one of them out")
    return _from_recipe(recipe, settings if seed is None else {**settings, "random_state": seed})


def _from_recipe(path: Path, settings: dict[str, Any]) -> ContrastiveEmbedder:
    from graphprox.ftgcl.base import ContrastiveEmbedder
    from graphprox.ftgcl.estimators import FTGCL
    from graphprox.ftgcl.overrides import FIELDS
    from graphprox.ftgcl.recipe import Recipe
    from graphprox.methods import METHODS

    own = {"scale": settings.pop("scale")} if "scale" in settings else {}
    recipe = Recipe.read(path).with_overrides({FIELDS.get(name, name): value for name, value in settings.items()})
    found = METHODS.get(recipe.method, FTGCL)  # a recipe may have a name of its own
    if not issubclass(found, ContrastiveEmbedder):
        raise ParameterError(
            f"method in {path} must be of the FT-GCL family, or a new name; got {recipe.method!r}, another method"
        )
    return found.from_recipe(recipe, **own)


def _may_be_replaced(out: Path) -> bool:
    """Return whether ``--force`` is about the output."""
    return is_database(out) or is_embedding_folder(out)


def _check_explains(estimator: GraphEmbedder, path: Path) -> None:
    """Check that there will be something to draw, and that it can be drawn."""
    if not explains(estimator):
        raise ParameterError(
            f"--explain needs a method that explains what it keeps, such as --method {DEFAULT_METHOD}; got "
            f"{estimator.name}: leave it out"
        )
    check_figure(path)


def _plot_selection(path: Path, estimator: Any) -> Path:
    from graphprox.auto.explanation import plot_selection

    return plot_selection(path, estimator.selection_, estimator.combination_.weights)
