"""graphprox embed and graphprox transform: from a graph to a vector for each of its nodes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from graphprox._utils.amounts import to_megabytes
from graphprox._utils.defaults import AUTO, DEFAULT_METHOD, DEFAULT_TRAINED_METHOD
from graphprox._utils.figures import check_figure
from graphprox._utils.memory import peak_memory
from graphprox._utils.progress import report_progress
from graphprox._utils.strict_json import dump_json
from graphprox._utils.team import keep_own_rows
from graphprox._utils.work_folder import use_work_folder
from graphprox.cli.disk_forecast import list_disk_uses
from graphprox.cli.dry_run import DryRunOption, IgnoreMemoryOption, announce_forecast, print_forecast
from graphprox.cli.embedding_options import (
    ForceOutputOption,
    LayoutOption,
    OutOption,
    TableOption,
    WorkFolderOption,
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
from graphprox.cli.progress_display import progress_bars, show_stage
from graphprox.cli.ranks import is_first, several, was_restarted
from graphprox.cli.shared_embed import (
    check_is_shared,
    check_outputs_once,
    continue_if_restarted,
    gather_for_file,
    write_together,
)
from graphprox.cli.signals import describe_stop, stop_code
from graphprox.embedding import Embedding
from graphprox.errors import GraphproxError, ParameterError, ProcessError, StructuralFeaturesWarning
from graphprox.io.embedding_folder.embedding_claims import is_embedding_folder
from graphprox.io.embedding_writer import check_writable, embedding_outputs, write_embedding
from graphprox.io.sql.sql_writer import is_database
from graphprox.io.storage.model_claims import claim_model_folder
from graphprox.io.storage.model_files import FAMILY, has_stages

if TYPE_CHECKING:
    from graphprox._utils.arrays import NodeIds
    from graphprox.auto.selection import Selection
    from graphprox.forecast.disk import DiskUse
    from graphprox.ftgcl.base import ContrastiveEmbedder
    from graphprox.graph.graph import Graph
    from graphprox.methods import GraphEmbedder
    from graphprox.preprocessing.table_encoder import TableEncoder


# Parameters of FT-GCL and its family that are not settings, and the option for each.
_TRAINING_OPTIONS = {
    "checkpoint_dir": "--model",
    "checkpoint_every": "--checkpoint-every",
    "resume": "--resume",
    "overwrite": "--force",
    "callbacks": "--tensorboard",
    "device": "--device",
    "cache": "--no-cache",
}
DeviceOption = Annotated[str, typer.Option("--device", metavar="NAME", help="auto, cpu, cuda or mps.")]


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
    settings = collect_settings(changes, method=family, dim=dim, epochs=epochs, scale=scale, options=_TRAINING_OPTIONS)
    estimator = _make_embedder(source.name, method, preset, recipe, settings, seed)
    check_is_shared(estimator)
    if _saves_while_training(estimator) or model is not None:
        resume, force = continue_if_restarted(folder, resume=resume, force=force)
    if explain is not None:
        _check_explains(estimator, explain)

    def list_uses(graph: Graph) -> list[DiskUse]:
        return list_disk_uses(estimator, graph, out=out, model=folder, is_saved=model is not None, work_dir=work_dir)

    if dry_run:
        graph = _load_graph(source, estimator)
        print_forecast(
            estimator, graph, title=source.name, uses=list_uses(graph), as_json=as_json, ignore_memory=ignore_memory
        )
        return
    options = {
        "checkpoint_dir": model,
        "checkpoint_every": checkpoint_every,
        "resume": resume,
        "overwrite": None if _may_be_replaced(out) and not _can_be_saved(estimator) else force,
        "device": device,
        "cache": cache,
    }

    def check(graph: Graph) -> None:
        if several() is None:  # the work of one process is forecast
            announce_forecast(estimator, graph, title=source.name, uses=list_uses(graph), ignore_memory=ignore_memory)

    # Each of several processes keeps the vectors of its own nodes.
    with _keep_stages(estimator, model, resume=resume), keep_own_rows(save_model=model is not None):
        with use_work_folder(work_dir or out.parent):
            embedding, ids = _fit(estimator, source, options, folder=folder, tensorboard=tensorboard, check=check)
        with show_stage(str(out), "writing"):
            embedding = gather_for_file(out, embedding, ids)
            written = write_together(out, embedding, layout=layout, table=table, overwrite=replaces)
    if explain is not None and is_first():
        written.append(_plot_selection(explain, estimator))
    if model is None and _saves_while_training(estimator) and is_first():
        _remove_checkpoints(folder)
    about = {**_describe(estimator), "model": None if model is None else str(model)}
    shape = len(ids), embedding.n_components
    _print_summary(as_json, written=written, shape=shape, seconds=time.perf_counter() - start, **about)
    if _explains(estimator) and not as_json:
        print(estimator.explanation_)


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
    graph = _load_graph(source, estimator, encoder=estimator.preprocessor_.encoder)
    with show_stage(str(model), "transforming"):
        embedding = Embedding(estimator.transform(graph), graph.ids)
    with show_stage(str(out), "writing"):
        written = write_embedding(out, embedding, layout=layout, table=table, overwrite=force)
    _print_summary(
        as_json,
        written=written,
        shape=embedding.shape,
        seconds=time.perf_counter() - start,
        method=estimator.name if recipe is None else recipe.method,
        epochs=None if recipe is None else recipe.epochs,
        loss=None,
        model=str(model),
    )


# -- the method -----------------------------------------------------------------------------------------------------


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


def _load_graph(source: GraphSource, estimator: GraphEmbedder, *, encoder: TableEncoder | None = None) -> Graph:
    """Load a graph, without the warning that it gets structural features if the method does not use them."""
    with warnings.catch_warnings():
        if estimator.ignores_structural_features:
            warnings.simplefilter("ignore", StructuralFeaturesWarning)
        return source.load(encoder=encoder).graph


# -- what a method can do -------------------------------------------------------------------------------------------


def _saves_while_training(estimator: GraphEmbedder) -> bool:
    """Return whether a method saves its model and checkpoints itself, and can be resumed."""
    return "checkpoint_dir" in estimator.parameters()


def _can_be_saved(estimator: GraphEmbedder) -> bool:
    return hasattr(type(estimator), "save")


def _may_be_replaced(out: Path) -> bool:
    """Return whether ``--force`` is about the output."""
    return is_database(out) or is_embedding_folder(out)


def _explains(estimator: GraphEmbedder) -> bool:
    return hasattr(type(estimator), "explanation_")


def _check_explains(estimator: GraphEmbedder, path: Path) -> None:
    """Check that there will be something to draw, and that it can be drawn."""
    if not _explains(estimator):
        raise ParameterError(
            f"--explain needs a method that explains what it keeps, such as --method {DEFAULT_METHOD}; got "
            f"{estimator.name}: leave it out"
        )
    check_figure(path)


# -- fitting --------------------------------------------------------------------------------------------------------


def _fit(
    estimator: GraphEmbedder,
    source: GraphSource,
    options: dict[str, Any],
    *,
    folder: Path,
    tensorboard: Path | None,
    check: Callable[[Graph], None],
) -> tuple[Embedding, NodeIds]:
    """Fit on the graph of a source, and save the model if ``options`` name a folder for it.

    Return the embedding, of the nodes of this process if there are several, and the ids of all nodes. ``check`` is
    called with the graph before any work.
    """
    from graphprox.forecast import ignore_memory
    from graphprox.ftgcl.tensorboard import tensorboard_callbacks

    model = options["checkpoint_dir"]
    with ExitStack() as claims, progress_bars(source.name) as show, report_progress(show):
        callbacks = claims.enter_context(tensorboard_callbacks(tensorboard if is_first() else None))
        _set_training_options(estimator, {**options, "callbacks": callbacks or None}, checkpoints=folder)
        estimator.check_parameters()
        is_saved_while_training = _saves_while_training(estimator)
        temporary = folder if model is None and not folder.exists() and is_first() else None
        if (is_saved_while_training or model is not None) and is_first():
            kind = FAMILY if is_saved_while_training else estimator.name
            claims.enter_context(
                claim_model_folder(folder, kind, overwrite=options["overwrite"], resume=options["resume"])
            )
        graph = _load_graph(source, estimator)
        check(graph)
        # What needs too much memory has been refused in the words of the command line.
        with _explain_interruption(estimator.name, model), _remove_on_error(temporary), ignore_memory():
            embedding = estimator.fit(graph).embedding_
        if model is not None and not is_saved_while_training and is_first():
            estimator.save(model, overwrite=True)  # what may be replaced was checked above
    return embedding, graph.ids


def _keep_stages(estimator: GraphEmbedder, model: Path | None, *, resume: bool) -> AbstractContextManager[None]:
    """Keep finished stages in the folder of the model, if the method has stages, until the embedding is written."""
    from graphprox.auto.stages import keep_stages

    is_kept = _can_be_saved(estimator) and not _saves_while_training(estimator) and several() is None
    return keep_stages(model if is_kept else None, resume=resume)


def _set_training_options(estimator: GraphEmbedder, options: dict[str, Any], *, checkpoints: Path) -> None:
    """Set the options of a training that can be resumed; reject them for other methods."""
    given = {name: value for name, value in options.items() if value is not None}
    if _saves_while_training(estimator):
        estimator.set_params(**{"checkpoint_dir": checkpoints, **given})
        return
    if _can_be_saved(estimator):
        model = given.pop("checkpoint_dir", None)
        if given.pop("resume", False) and model is None:
            raise ParameterError(
                f"--resume of {estimator.name} continues from the folder that --model names; got no --model: name it"
            )
        if given.pop("overwrite", False) and options["resume"]:
            raise ParameterError("resume and overwrite must not be set both; got True for both: leave one of them out")
    for name, value in given.items():
        if name == "cache" or value is False or value in ("auto", "cpu"):  # what every method runs on
            continue
        needed = "can be saved" if name in ("checkpoint_dir", "overwrite") else "is trained by FT-GCL's trainer"
        raise ParameterError(
            f"{_TRAINING_OPTIONS[name]} needs a method that {needed}, such as --method {DEFAULT_TRAINED_METHOD}; got "
            f"{estimator.name}: leave it out, or name such a method"
        )


@contextmanager
def _remove_on_error(folder: Path | None) -> Iterator[None]:
    """Remove a newly created folder of checkpoints if training fails, but not if it is interrupted."""
    try:
        yield
    except ProcessError:  # torchrun may start the processes again
        raise
    except GraphproxError:
        if folder is not None and folder.exists():
            _remove_checkpoints(folder)
        raise


def _remove_checkpoints(folder: Path) -> None:
    from graphprox.ftgcl.model_folder import remove_model

    remove_model(folder)


class _StoppedError(GraphproxError):
    """Training was stopped by a signal, and was saved."""


@contextmanager
def _explain_interruption(method: str, model: Path | None) -> Iterator[None]:
    """Turn an interruption into an error: typer ends the program on a KeyboardInterrupt without a message."""
    from graphprox.ftgcl.interruption import Interrupted

    try:
        yield
    except Interrupted as stop:
        error = _StoppedError(str(stop))
        error.exit_code = stop.code
        raise error from None
    except KeyboardInterrupt:
        is_kept = model is not None and has_stages(model)
        what = ": the same command continues with --resume" if is_kept else ", and no file was written"
        error = _StoppedError(f"{describe_stop()}; {method} was not finished{what}")
        error.exit_code = stop_code()
        raise error from None


# -- output ---------------------------------------------------------------------------------------------------------


def _plot_selection(path: Path, estimator: Any) -> Path:
    from graphprox.auto.explanation import plot_selection

    return plot_selection(path, estimator.selection_, estimator.combination_.weights)


def _describe(estimator: GraphEmbedder) -> dict[str, Any]:
    """Return method, epochs and loss of a fitted embedder, and what it has kept if it explains itself."""
    losses = getattr(estimator, "loss_curve_", None)
    about: dict[str, Any] = {
        "method": estimator.name if losses is None else estimator.recipe_.method,
        "epochs": None if losses is None else len(losses),
        "loss": None if losses is None or not len(losses) else float(losses[-1]),
    }
    if not _explains(estimator):
        return about
    selection: Selection = estimator.selection_
    kept = {
        "choice": selection.choice,
        "scores": dict(selection.scores),
        "ratio": selection.ratio,
        "weights": dict(estimator.combination_.weights),
    }
    return {**about, "selection": kept}


def _print_summary(as_json: bool, *, written: list[Path], shape: tuple[int, int], seconds: float, **about: Any) -> None:
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
