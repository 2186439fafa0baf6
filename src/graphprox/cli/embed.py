"""graphprox embed and graphprox transform: from a graph to a vector for each of its nodes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console

from graphprox.cli.options import (
    CacheOption,
    ChangeOption,
    DataOption,
    DirectedOption,
    FeaturesOption,
    GraphArgument,
    HeaderOption,
    JsonOption,
    MethodOption,
    PresetOption,
    VerboseOption,
)
from graphprox.cli.progress import shown_progress
from graphprox.errors import GraphproxError, ParameterError
from graphprox.io.embedding import check_writable, write_embedding
from graphprox.loading import load
from graphprox.memory import peak_memory

if TYPE_CHECKING:
    from graphprox.methods.embedders import Embedder
    from graphprox.training.recipe import Recipe
    from graphprox.training.trainer import Step

METHOD, PRESET = "ft-gcl", "auto"
OutOption = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Where the embedding goes: .parquet, .csv, .npy, .txt (word2vec) or .tsv (TensorBoard's projector).",
        show_default=False,
    ),
]
DeviceOption = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or mps.")]


def embed(
    graph: GraphArgument,
    out: OutOption,
    method: MethodOption = METHOD,
    preset: PresetOption = PRESET,
    recipe: Annotated[
        Path | None,
        typer.Option(
            "--recipe", metavar="FILE", help="A recipe as TOML, in place of method and preset.", show_default=False
        ),
    ] = None,
    change: ChangeOption = None,
    steps: Annotated[int | None, typer.Option("--steps", help="How long to train.", show_default="preset's")] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="What chance draws from: the same seed, the same bytes.", show_default="0"),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", metavar="DIR", help="Keep the model there, to go on or to embed other graphs."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint, if there is one.")] = False,
    checkpoint_every: Annotated[
        int, typer.Option("--checkpoint-every", min=1, metavar="STEPS", help="How often a checkpoint is written.")
    ] = 20,
    tensorboard: Annotated[
        Path | None, typer.Option("--tensorboard", metavar="DIR", help="Log the loss for TensorBoard there.")
    ] = None,
    device: DeviceOption = "auto",
    cache: CacheOption = True,
    features: FeaturesOption = None,
    directed: DirectedOption = None,
    header: HeaderOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Embed a graph: rank its views, train without labels, write a vector per node.

    Ctrl-C, or SIGTERM, stops after the current step and keeps what was trained: the same command with `--resume` goes
    on, and ends as if it had never been stopped. With `--model` more `--steps` continue a training that was done. So it
    is with FT-GCL and its kin; other methods, as dgi, keep nothing of a training that is stopped, and begin anew.

    Examples:

    - `graphprox embed Cora --data DIR --out emb.parquet`
    - `graphprox embed edges.csv --features words.npz --out emb.csv --model model`
    - `graphprox embed synthetic --out emb.npy --method f-gcl --steps 50 --set encoder.kind=sage`
    - `graphprox embed Cora --out emb.parquet --model model --steps 200 --resume`
    - `graphprox embed Cora --out emb.parquet --method dgi --set width=256`
    """
    began = time.perf_counter()
    check_writable(out)
    if recipe is None and not _goes_step_by_step(method):
        _refuse(method, steps=steps, model=model, resume=resume, tensorboard=tensorboard)
        maker = _embedder(method, preset, change, graph)
        loaded = load(graph, data=data, features=features, directed=directed, header=header)
        with shown_progress(graph) as show:
            rows = maker.embed(loaded.graph.without_labels(), seed or 0, progress=show)
        embedding = rows if isinstance(rows, np.ndarray) else rows.toarray()
        written = write_embedding(out, embedding, loaded.graph.ids)
        taken = time.perf_counter() - began
        _tell(as_json, written=written, shape=embedding.shape, seconds=taken, method=method)
        return
    # A mistake in the recipe is told before anything is read.
    chosen = _chosen(recipe, method, preset, graph).with_overrides(_overrides(change, steps=steps, seed=seed))
    loaded = load(graph, data=data, features=features, directed=directed, header=header)

    from graphprox.training.fitting import fit
    from graphprox.training.store import discard_model
    from graphprox.training.tracking import tracked

    folder = model or out.with_name(f"{out.name}.training")
    with shown_progress(graph) as show, tracked(tensorboard) as track, _told_when_stopped():

        def shown(step: Step) -> None:
            show("training", step.step, chosen.steps, note=f", loss {step.loss:.4f}")

        fitted = fit(
            loaded.graph,
            chosen,
            device=device,
            folder=folder,
            resume=resume,
            checkpoint_every=checkpoint_every,
            cache=cache,
            progress=show,
            on_step=[shown, *track],
        )
    written = write_embedding(out, fitted.embedding, loaded.graph.ids)
    if model is None:
        discard_model(folder)
    _tell(
        as_json,
        written=written,
        shape=fitted.embedding.shape,
        seconds=time.perf_counter() - began,
        method=chosen.method,
        steps=len(fitted.losses),
        loss=None if not len(fitted.losses) else float(fitted.losses[-1]),
        model=None if model is None else str(model),
    )


def transform(
    graph: GraphArgument,
    out: OutOption,
    model: Annotated[
        Path,
        typer.Option("--model", metavar="DIR", help="What embed --model kept.", show_default=False),
    ],
    device: DeviceOption = "auto",
    features: FeaturesOption = None,
    directed: DirectedOption = None,
    header: HeaderOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Embed a graph with a model that is trained already: the same graph grown, or another with the same features.

    Nothing is trained and no view is ranked: the encoder sees the new graph's features and edges, as they are.

    Examples:

    - `graphprox transform Cora --data DIR --model model --out again.parquet`
    - `graphprox transform grown.csv --features words.npz --model model --out grown.parquet`
    """
    began = time.perf_counter()
    check_writable(out)

    from graphprox.training.model import chosen_device
    from graphprox.training.store import load_model

    trained = load_model(model, device=chosen_device(device))
    loaded = load(graph, data=data, features=features, directed=directed, header=header)
    embedding = trained.embed(loaded.graph.without_labels())
    written = write_embedding(out, embedding, loaded.graph.ids)
    _tell(
        as_json,
        written=written,
        shape=embedding.shape,
        seconds=time.perf_counter() - began,
        method=trained.recipe.method,
        steps=trained.recipe.steps,
        loss=None,
        model=str(model),
    )


class _StoppedError(GraphproxError):
    """A signal stopped the training; what was trained is kept."""


@contextmanager
def _told_when_stopped() -> Iterator[None]:
    """Typer ends the program on a KeyboardInterrupt without a word; ours has something to say."""
    from graphprox.training.interruption import Interrupted

    try:
        yield
    except Interrupted as stop:
        error = _StoppedError(str(stop))
        error.exit_code = stop.code
        raise error from None


def _overrides(changes: list[str] | None, **options: int | None) -> list[str]:
    """What --set and the options of its most used settings say; an option counts more."""
    return [*(changes or ()), *(f"{name}={value}" for name, value in options.items() if value is not None)]


def _goes_step_by_step(method: str) -> bool:
    from graphprox.methods.registry import method_named

    return method_named(method).goes_step_by_step


def _refuse(method: str, **options: object) -> None:
    """Refuse options that only the family takes, which is trained step by step and kept as a model."""
    for name, value in options.items():
        if value:
            raise ParameterError(
                f"--{name} is for methods that are trained by a recipe, as ft-gcl is; got it beside --method {method}: "
                "leave it out, or change a setting by --set NAME=VALUE"
            )


def _embedder(method: str, preset: str, changes: list[str] | None, dataset: str) -> Embedder:
    from graphprox.methods.embedders import Embedder
    from graphprox.methods.registry import method_for
    from graphprox.training.tables import parsed_override

    overrides = dict(map(parsed_override, changes or ()))
    maker = method_for(method, dataset=dataset, preset=preset, overrides=overrides)
    if not isinstance(maker, Embedder):
        raise ParameterError(
            f"embed needs a method that makes embeddings; {method} learns classes from labels: see graphprox compare"
        )
    return maker


def _chosen(path: Path | None, method: str, preset: str, dataset: str) -> Recipe:
    """The recipe in a file, or that of a method and a preset."""
    from graphprox.methods.family import recipe_for
    from graphprox.training.recipe import Recipe

    if path is None:
        return recipe_for(method, preset=preset, dataset=dataset)
    if (method, preset) != (METHOD, PRESET):
        raise ParameterError(
            "--recipe must stand alone; got --method or --preset beside it, which it takes the place of"
        )
    return Recipe.read(path)


def _tell(as_json: bool, *, written: list[Path], shape: tuple[int, ...], seconds: float, **about: Any) -> None:
    peak = peak_memory()
    if as_json:
        figures = {"seconds": round(seconds, 2), "peak_memory_mb": None if peak is None else round(peak / 2**20)}
        said = {"files": [str(path) for path in written], "nodes": shape[0], "dimensions": shape[1], **about, **figures}
        print(json.dumps(said, indent=2))
        return
    steps = "" if about.get("steps") is None else f", {about['steps']} steps"
    loss = "" if about.get("loss") is None else f", loss {about['loss']:.4f}"
    kept = "" if about.get("model") is None else f"; the model is in {about['model']}"
    Console(highlight=False, emoji=False, markup=False, soft_wrap=True).print(
        f"{', '.join(map(str, written))}: {shape[0]:,} nodes, {shape[1]:,} dimensions, by {about['method']}"
        f"{steps}{loss}, {seconds:.1f} s{kept}"
    )
