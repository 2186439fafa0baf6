"""graphprox embed, transform and curve.

Covers graphprox.cli.curve, graphprox.cli.embedding_summary, graphprox.cli.fitting and graphprox.cli.transform.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from graphprox import FTGCL, AutoEmbedder, load
from graphprox.auto import row_store
from graphprox.auto.selection import Selection
from graphprox.ftgcl.trainer import Trainer
from graphprox.io.embedding_reader import read_embedding

SMALL = ["--dim", "8", "--set", "head_channels=8", "--set", "views.k_max=3"]  # a parameter, and a field of the recipe
CURVE = ["--set", "n_components=8", "--set", "k_max=3", "--set", "views.k_min=1"]
GRAPH = "synthetic:nodes=140"


@pytest.fixture
def embed(run, tmp_path, no_data):
    def embed(*arguments):
        named = [] if "--method" in arguments else ["--method", "ft-gcl"]
        return run("embed", GRAPH, *named, *SMALL, "--device", "cpu", *arguments)

    return embed


def test_only_the_embedding_is_written(embed, tmp_path):
    code, out, err = embed("--out", tmp_path / "emb.parquet", "--epochs", 3)
    assert (code, err) == (0, "")
    assert "140 nodes, 8 components, by ft-gcl, 3 epochs, loss" in out
    assert read_embedding(tmp_path / "emb.parquet").vectors.shape == (140, 8)
    assert [path.name for path in tmp_path.glob("emb*")] == ["emb.parquet"]


def test_layout_of_a_parquet_file_is_an_option(embed, tmp_path):
    for layout, names in ((), ["id", "vector"]), (("--layout", "wide"), ["id", *map(str, range(8))]):
        code, _, _ = embed("--out", tmp_path / "emb.parquet", "--epochs", 1, *layout)
        assert (code, pq.read_schema(tmp_path / "emb.parquet").names) == (0, names)
    code, _, err = embed("--out", tmp_path / "emb.csv", "--epochs", 1, "--layout", "wide")
    assert (code, err) == (
        2,
        "error: --layout must be left out, except for a .parquet file or a folder; got 'emb.csv'\n",
    )


@pytest.mark.parametrize("named", [False, True])
def test_rows_that_memory_does_not_hold_are_written_to_the_work_folder(run, tmp_path, no_data, monkeypatch, named):
    seen = []
    monkeypatch.setattr(row_store, "MEMORY_BYTES", 0)
    monkeypatch.setattr(row_store, "check_disk_space", lambda folder, *_: seen.append(folder))
    out = tmp_path / "out" / "emb.npy"
    code, _, err = run("embed", GRAPH, "--out", out, *(["--work-dir", tmp_path / "work"] if named else []))
    assert code == 0, err
    assert set(seen) == {tmp_path / ("work" if named else "out")}
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["emb.npy"]
    np.testing.assert_array_equal(np.load(out), AutoEmbedder().fit_transform(load(GRAPH)))


def test_work_folder_must_be_writable(run, tmp_path, no_data):
    (tmp_path / "file").touch()
    code, _, err = run("embed", GRAPH, "--out", tmp_path / "emb.npy", "--work-dir", tmp_path / "file")
    assert (code, err.count("\n")) == (2, 1)
    assert "must be a folder that can be written to" in err


def test_command_equals_the_estimator_fitted_on_the_data_set(run, tmp_path, no_data):
    code, out, _ = run("embed", "synthetic", "--method", "ft-gcl", "--out", tmp_path / "emb.npy", "--json")
    assert (code, json.loads(out)["epochs"]) == (0, 250)  # of the preset
    assert np.load(tmp_path / "emb.npy").tobytes() == FTGCL().fit(load("synthetic")).vectors_.tobytes()


def test_same_command_writes_the_same_bytes(embed, tmp_path):
    embed("--out", tmp_path / "a.npy", "--epochs", 3)
    embed("--out", tmp_path / "b.npy", "--epochs", 3)
    embed("--out", tmp_path / "c.npy", "--epochs", 3, "--seed", 1)
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    assert (tmp_path / "a.npy").read_bytes() != (tmp_path / "c.npy").read_bytes()


@pytest.mark.parametrize(
    "method", ["f-gcl", "t-gcl", "FT-GCL", "ft-gcl-plus", "pe-gcl", "ft-gcl-nl", "ft-grace", "grace"]
)
def test_all_methods_of_the_family_embed(embed, tmp_path, method):
    code, out, _ = embed("--out", tmp_path / "emb.npy", "--epochs", 2, "--method", method, "--json")
    summary = json.loads(out)
    assert (code, summary["method"], summary["epochs"]) == (0, method.lower(), 2)
    assert np.load(tmp_path / "emb.npy").shape == (140, 8)


def test_saved_model_embeds_the_same_graph_equally(embed, run, tmp_path):
    embed("--out", tmp_path / "emb.npy", "--epochs", 3, "--model", tmp_path / "model")
    kept = {path.name for path in (tmp_path / "model").iterdir()}
    assert kept == {"recipe.toml", "weights.safetensors", "metrics.jsonl", "about.json", "checkpoints"}
    code, _, _ = run("transform", GRAPH, "--model", tmp_path / "model", "--out", tmp_path / "again.npy")
    assert code == 0
    assert (tmp_path / "emb.npy").read_bytes() == (tmp_path / "again.npy").read_bytes()


def test_saved_recipe_trains_the_same_model(embed, tmp_path, run):
    embed("--out", tmp_path / "emb.npy", "--epochs", 3, "--model", tmp_path / "model")
    recipe = tmp_path / "model" / "recipe.toml"
    code, _, _ = run("embed", GRAPH, "--recipe", recipe, "--out", tmp_path / "again.npy")
    assert code == 0
    assert (tmp_path / "emb.npy").read_bytes() == (tmp_path / "again.npy").read_bytes()
    options = ["--recipe", recipe, "--dim", 4, "--epochs", 1, "--seed", 1, "--json"]
    code, out, _ = run("embed", GRAPH, *options, "--out", tmp_path / "other.npy")
    summary = json.loads(out)
    assert (code, summary["dim"], summary["epochs"]) == (0, 4, 1)


def test_recipe_keeps_its_own_method_name(embed, tmp_path, run):
    recipe, model = tmp_path / "mine.toml", tmp_path / "model"
    FTGCL(epochs=1, n_components=8).recipe().merged({"method": "mine"}).write(recipe)
    code, out, _ = run("embed", GRAPH, "--recipe", recipe, "--out", tmp_path / "emb.npy", "--model", model)
    assert code == 0
    assert "by mine, 1 epoch, " in out
    assert 'method = "mine"' in (model / "recipe.toml").read_text()
    code, out, _ = run("transform", GRAPH, "--model", model, "--out", tmp_path / "again.npy")
    assert (code, "by mine, 1 epoch, " in out) == (0, True)
    assert (tmp_path / "emb.npy").read_bytes() == (tmp_path / "again.npy").read_bytes()


def test_recipe_with_the_name_of_another_method_is_refused(tmp_path, run):
    (tmp_path / "dgi.toml").write_text('method = "dgi"')
    code, _, err = run("embed", GRAPH, "--recipe", tmp_path / "dgi.toml", "--out", tmp_path / "emb.npy")
    assert (code, "must be of the FT-GCL family, or a new name; got 'dgi', another method" in err) == (2, True)


def test_preset_of_another_data_set_is_selected_by_name(run, tmp_path, no_data):
    options = ["--method", "ft-gcl", "--preset", "PubMed", "--epochs", 1, "--model", tmp_path / "model", "--json"]
    code, out, _ = run("embed", GRAPH, "--out", tmp_path / "emb.npy", *options)
    assert (code, json.loads(out)["dim"]) == (0, 1024)
    assert 'activation = "none"' in (tmp_path / "model" / "recipe.toml").read_text()


def test_options_take_precedence_over_set_and_preset(run, tmp_path, no_data):
    options = ["--preset", "synthetic", "--set", "epochs=9", "--set", "encoder.name=sage", "--epochs", 2, "--dim", 8]
    command = ["embed", GRAPH, "--method", "ft-gcl", "--out", tmp_path / "emb.npy", "--model", tmp_path / "model"]
    code, out, _ = run(*command, "--json", *options)
    summary = json.loads(out)
    assert (code, summary["epochs"], summary["dim"]) == (0, 2, 8)
    recipe = (tmp_path / "model" / "recipe.toml").read_text()
    assert 'name = "sage"' in recipe
    assert 'activation = "elu"' in recipe  # of the preset


def test_checkpoints_are_written_at_the_requested_interval(embed, tmp_path):
    options = ["--epochs", 4, "--model", tmp_path / "model", "--checkpoint-every", 2]
    code, _, _ = embed("--out", tmp_path / "emb.npy", *options)
    assert code == 0
    names = sorted(path.name for path in (tmp_path / "model" / "checkpoints").iterdir())
    assert [int("".join(filter(str.isdigit, name.partition(".")[0]))) for name in names][-1] == 4


def test_features_are_read_from_a_separate_file(run, tmp_path, no_data):
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"n{i},n{i + 1}\n" for i in range(20)))
    (tmp_path / "x.csv").write_text("id,a,b\n" + "".join(f"n{i},{i % 3},1\n" for i in range(21)))
    for options in (["--method", "ft-gcl", "--epochs", 2, *SMALL], ["--dim", 8]):
        options += ["--features", tmp_path / "x.csv", "--out", tmp_path / "emb.csv"]
        code, _, err = run("embed", tmp_path / "edges.csv", *options)
        assert (code, err) == (0, "")
        assert set(read_embedding(tmp_path / "emb.csv").ids) == {f"n{i}" for i in range(21)}


def test_another_graph_is_embedded_without_training(embed, run, tmp_path):
    embed("--out", tmp_path / "emb.npy", "--epochs", 3, "--model", tmp_path / "model")
    grown = ["synthetic:nodes=300,seed=4", "--model", tmp_path / "model", "--out", tmp_path / "more.npy"]
    code, out, _ = run("transform", *grown, "--json")
    assert code == 0
    assert json.loads(out)["nodes"] == 300


def test_resume_continues_a_finished_training_run(embed, tmp_path):
    model = tmp_path / "model"
    embed("--out", tmp_path / "a.npy", "--epochs", 3, "--model", model)
    embed("--out", tmp_path / "a.npy", "--epochs", 6, "--model", model, "--resume")
    embed("--out", tmp_path / "b.npy", "--epochs", 6)
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    lines = [json.loads(line) for line in (model / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2, 3, 4, 5, 6]


def test_loss_is_logged_for_tensorboard(embed, tmp_path):
    code, _, err = embed("--out", tmp_path / "emb.npy", "--epochs", 4, "--tensorboard", tmp_path / "log")
    assert (code, err) == (0, "")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    log = EventAccumulator(str(tmp_path / "log")).Reload()
    assert [event.step for event in log.Scalars("loss/graph-feature")] == [1, 3]
    assert [event.step for event in log.Scalars("loss/graph-topology")] == [2, 4]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--out", "emb.doc"], "the ending of an embedding file must be one of .parquet"),
        (["--method", "ft-gcp"], "method must be a known name; got 'ft-gcp': did you mean 'ft-gcl'?"),
        (["--preset", "Coro"], "FT-GCL has no preset 'Coro'; did you mean 'Cora'?"),
        (["--set", "encoder.n_componets=3"], "did you mean 'encoder.n_components'?"),
        (["--set", "temprature=3"], "FT-GCL has no setting 'temprature'; did you mean 'temperature'?"),
        (["--set", "zzz=3"], "FT-GCL has no setting 'zzz'; `graphprox methods ft-gcl` lists them"),
        (["--set", "temperature"], "a setting must be NAME=VALUE, such as n_components=256; got 'temperature'"),
        (["--set", "temperature=hot"], "objective.temperature must be a positive, finite number; got 'hot'"),
        (["--set", "random_state=3"], "a setting must not be 'random_state'; use --seed instead"),
        (["--set", "seed=3"], "a setting must not be 'seed'; use --seed instead"),
        (["--set", "preset=Cora"], "a setting must not be 'preset'; use --preset instead"),
        (["--set", "name=dgi"], "a setting must not be 'name'; use --method instead"),
        (["--set", "dataset=Cora"], "a setting must not be 'dataset'; use GRAPH instead"),
        (["--set", "device=cpu"], "a setting must not be 'device'; use --device instead"),
        (["--set", "encoder.width=3"], "'encoder.width'; it was renamed to 'encoder.n_components' in version 0.2"),
        (["--set", "width=3"], "no setting 'width'; it was renamed to 'n_components' in version 0.2"),
        (["--epochs", "-1"], "--epochs must be a non-negative integer; got -1"),
        (["--dim", "0"], "--dim must be a positive integer; got 0"),
        (["--model", "model", "--checkpoint-every", "0"], "--checkpoint-every must be a positive integer; got 0"),
        (["--recipe", "none.toml"], "none.toml does not exist"),
        (["--recipe", "none.toml", "--method", "dgi"], "--recipe replaces --method and --preset; got both"),
        (["--device", "abacus"], "device must be"),
        (["--epochs", "5", "--set", "optimizer.learning_rate=1e30"], "lower learning_rate"),
    ],
)
def test_error_is_one_sentence_and_nothing_is_written(run, tmp_path, monkeypatch, no_data, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    options = SMALL if not {"--dim", "--recipe"} & set(arguments) else []
    named = [] if {"--method", "--recipe"} & set(arguments) else ["--method", "ft-gcl"]
    code, out, err = run("embed", GRAPH, "--out", "emb.npy", *named, *options, *arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert not list(tmp_path.glob("emb.*"))


@pytest.mark.parametrize(
    "option",
    [["--model", "model"], ["--resume"], ["--checkpoint-every", "5"], ["--tensorboard", "log"], ["--device", "cuda"]],
)
def test_method_that_cannot_be_resumed_rejects_training_options(run, tmp_path, monkeypatch, no_data, option):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("embed", GRAPH, "--out", "emb.npy", "--method", "dgi", *option)
    assert (code, out) == (2, "")
    needed = "can be saved" if option[0] == "--model" else "is trained by FT-GCL's trainer"
    assert err == (
        f"error: {option[0]} needs a method that {needed}, such as --method ft-gcl; got dgi: leave it out, or name "
        "such a method\n"
    )
    assert not (tmp_path / "emb.npy").exists()
    assert not (tmp_path / "model").exists()


# -- the default method ---------------------------------------------------------------------------------------------


def test_default_method_equals_the_estimator_and_explains_itself(run, tmp_path, no_data):
    code, out, err = run("embed", GRAPH, "--dim", 8, "--seed", 3, "--out", tmp_path / "emb.npy")
    fitted = AutoEmbedder(n_components=8, random_state=3).fit(load(GRAPH))
    first, *explained = out.splitlines()
    assert (code, err) == (0, "")
    assert np.load(tmp_path / "emb.npy").tobytes() == fitted.vectors_.tobytes()
    assert first.startswith(f"{tmp_path / 'emb.npy'}: 140 nodes, 8 components, by auto, ")
    assert [line.partition(":")[0] for line in explained] == ["found", "kept", "cost"]
    assert explained[:2] == fitted.explanation_.splitlines()[:2]
    assert [path.name for path in tmp_path.glob("emb*")] == ["emb.npy"]


def test_selection_is_part_of_the_json(run, tmp_path, no_data):
    code, out, _ = run("embed", GRAPH, "--out", tmp_path / "emb.npy", "--json")
    selection, found = json.loads(out)["selection"], AutoEmbedder().fit(load(GRAPH)).selection_
    assert (code, json.loads(out)["method"]) == (0, "auto")
    expected = {"choice": found.choice, "scores": dict(found.scores), "ratio": found.ratio, "weights": found.weights}
    assert selection == expected


def test_infinite_ratio_is_null_in_the_json(run, tmp_path, no_data, monkeypatch):
    def select(*_):
        return Selection("both", {}, float("inf"))

    monkeypatch.setattr(AutoEmbedder, "_select", select)
    code, out, _ = run("embed", GRAPH, "--out", tmp_path / "emb.npy", "--json")
    assert (code, json.loads(out)["selection"]["ratio"]) == (0, None)


def test_other_methods_print_no_explanation(embed, tmp_path):
    code, out, _ = embed("--out", tmp_path / "emb.npy", "--epochs", 1, "--json")
    assert (code, "selection" in json.loads(out)) == (0, False)
    assert len(embed("--out", tmp_path / "emb.npy", "--epochs", 1)[1].splitlines()) == 1


def test_saved_model_of_the_default_method_is_loaded_by_transform(run, tmp_path, no_data):
    model, out = tmp_path / "model", tmp_path / "emb.npy"
    code, printed, _ = run("embed", GRAPH, "--dim", 8, "--out", out, "--model", model)
    assert (code, f"; model in {model}\n" in printed) == (0, True)
    assert {path.name for path in model.iterdir()} == {"arrays.safetensors", "about.json"}
    code, printed, _ = run("transform", GRAPH, "--model", model, "--out", tmp_path / "again.npy")
    assert (code, "140 nodes, 8 components, by auto, " in printed) == (0, True)
    assert out.read_bytes() == (tmp_path / "again.npy").read_bytes()
    grown = ["synthetic:nodes=300,seed=4", "--model", model, "--out", tmp_path / "more.npy", "--json"]
    code, printed, _ = run("transform", *grown)
    assert (code, json.loads(printed)["nodes"], json.loads(printed)["epochs"]) == (0, 300, None)


def test_model_of_the_default_method_is_rejected_where_it_does_not_fit(run, tmp_path, no_data):
    model, out = tmp_path / "model", ["--out", tmp_path / "emb.npy"]
    run("embed", GRAPH, "--dim", 8, *out, "--model", model)
    code, _, err = run("transform", "synthetic:nodes=140,features=16", "--model", model, *out)
    assert (code, "must have the 32 features that auto was fitted on; got 16" in err) == (2, True)
    code, _, err = run("transform", GRAPH, "--model", model, *out, "--device", "cuda")
    assert (code, err) == (
        2,
        "error: --device must be auto or cpu for a model of auto; got 'cuda': leave it out\n",
    )
    description = (model / "about.json").read_text()
    (model / "about.json").write_text(description[:50])
    code, _, err = run("transform", GRAPH, "--model", model, *out)
    assert (code, err.count("\n")) == (2, 1)
    assert "about.json is damaged: " in err
    assert err.endswith(": fit the embedder again\n")
    (model / "about.json").write_text(description)
    (model / "arrays.safetensors").write_bytes(b"noise")
    code, _, err = run("transform", GRAPH, "--model", model, *out)
    assert (code, err.count("\n")) == (2, 1)
    assert "arrays.safetensors is damaged: its content does not match the recorded checksum" in err


def test_default_method_does_not_warn_that_it_uses_structural_features(run, tmp_path, no_data):
    (tmp_path / "edges.csv").write_text("".join(f"n{each},n{(each + 1) % 40}\n" for each in range(40)))
    given = [tmp_path / "edges.csv", "--out", tmp_path / "emb.npy"]
    code, _, err = run("embed", *given, "--dim", 4, "--model", tmp_path / "model")
    assert (code, err) == (0, "")
    code, _, err = run("transform", *given, "--model", tmp_path / "model")
    assert (code, err) == (0, "")
    code, _, err = run("embed", *given, "--method", "raw")
    assert (code, "the graph has no features" in err) == (0, True)


@pytest.mark.parametrize("name", ["why.png", "why.SVG"])
def test_selection_is_drawn_to_exactly_one_file(run, tmp_path, no_data, name):
    figure = tmp_path / "new" / name
    code, out, _ = run("embed", GRAPH, "--out", tmp_path / "emb.npy", "--explain", figure, "--json")
    assert (code, json.loads(out)["files"]) == (0, [str(tmp_path / "emb.npy"), str(figure)])
    assert figure.read_bytes().startswith(b"\x89PNG" if name == "why.png" else b"<?xml")
    assert list(figure.parent.iterdir()) == [figure]


def test_missing_matplotlib_is_reported_before_anything_is_read(run, tmp_path, no_data, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = run("embed", "missing.csv", "--out", tmp_path / "emb.npy", "--explain", tmp_path / "why.png")
    assert (code, out) == (2, "")
    assert err == "error: a figure needs matplotlib, which is not installed: pip install 'graphprox[plots]'\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--epochs", "3"],
            "--epochs needs a method that has the setting epochs, such as --method ft-gcl; auto has none: leave it "
            "out, or name such a method",
        ),
        *(
            (
                option,
                f"{option[0]} needs a method that is trained by FT-GCL's trainer, such as --method ft-gcl; got auto: "
                "leave it out, or name such a method",
            )
            for option in (["--checkpoint-every", "5"], ["--tensorboard", "log"], ["--device", "cuda"])
        ),
        (["--explain", "why.gif"], "the ending of a figure must be one of .png, .svg, .pdf; got 'why.gif'"),
        (["--method", "dgi", "--explain", "why.png"], "such as --method auto; got dgi: leave it out"),
        (["--preset", "Cora"], "auto has no preset 'Cora'; valid names are auto, default"),
        (["--set", "keep=all"], "keep must be one of"),
        (["--dim", "0"], "--dim must be a positive integer; got 0"),
    ],
)
def test_invalid_option_of_the_default_method_is_one_sentence(run, tmp_path, monkeypatch, no_data, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("embed", GRAPH, "--out", "emb.npy", "--model", "model", *arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert not [name for name in ("emb.npy", "model", "why.png", "why.pdf") if (tmp_path / name).exists()]


# -- models that do not fit -----------------------------------------------------------------------------------------


def test_model_of_other_features_is_rejected(embed, run, tmp_path):
    embed("--out", tmp_path / "emb.npy", "--epochs", 1, "--model", tmp_path / "model")
    other = ["transform", "synthetic:nodes=140,features=16", "--model", tmp_path / "model", "--out", tmp_path / "o.npy"]
    code, _, err = run(*other)
    assert code == 2
    assert "must have the 32 features that FT-GCL was fitted on; got 16" in err


def test_folder_without_a_model_is_rejected(run, tmp_path, no_data):
    code, _, err = run("transform", GRAPH, "--model", tmp_path, "--out", tmp_path / "o.npy")
    assert code == 2
    assert "must be the folder of a model" in err


SIGNALS = pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])


@SIGNALS
def test_interrupted_command_is_resumed_to_the_same_bytes(embed, tmp_path, monkeypatch, number, code):
    epochs, step = [], Trainer.step

    def interrupt(trainer):
        epochs.append(step(trainer))
        if len(epochs) == 5:
            os.kill(os.getpid(), number)
        return epochs[-1]

    saved = ["--epochs", 12, "--model", tmp_path / "model", "--resume"]
    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "step", interrupt)
        stopped, out, err = embed("--out", tmp_path / "emb.npy", *saved)
    assert (stopped, out) == (code, "")
    assert "of 12: --resume continues from there" in err
    assert not (tmp_path / "emb.npy").exists()
    assert embed("--out", tmp_path / "emb.npy", *saved)[0] == 0
    assert embed("--out", tmp_path / "whole.npy", "--epochs", 12)[0] == 0
    assert (tmp_path / "emb.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()


@pytest.mark.slow
@SIGNALS
def test_interrupted_process_is_resumed_to_the_same_bytes(embed, tmp_path, no_data, number, code):
    whole = tmp_path / "whole.npy"
    embed("--out", whole, "--epochs", 300)
    command = [Path(sys.executable).with_name("graphprox"), "embed", GRAPH, "--method", "ft-gcl", *SMALL]
    command += ["--device", "cpu", "--out", tmp_path / "emb.npy", "--epochs", "300"]
    command += ["--model", tmp_path / "model", "--resume"]
    with subprocess.Popen(list(map(str, command)), env=os.environ, stderr=subprocess.PIPE, text=True) as process:
        metrics = tmp_path / "model" / "metrics.jsonl"
        while process.poll() is None and (not metrics.exists() or len(metrics.read_text()) < 300):
            time.sleep(0.005)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "of 300: --resume continues from there" in err
    assert not (tmp_path / "emb.npy").exists()
    done = embed("--out", tmp_path / "emb.npy", "--epochs", 300, "--model", tmp_path / "model", "--resume")
    assert done[0] == 0
    assert (tmp_path / "emb.npy").read_bytes() == whole.read_bytes()


def test_curve_prints_the_accuracy_after_each_number_of_epochs(run, no_data):
    code, out, _ = run("curve", "synthetic", "--preset", "default", *CURVE, "--epochs", "0,2", "--splits", 2, "--json")
    points = [json.loads(line) for line in out.splitlines()]
    assert (code, [point["epochs"] for point in points]) == (0, [0, 2])
    assert all(0 < point["accuracy"] < 1 for point in points)
    assert points[0]["loss"] is None
    assert points[1]["loss"] > 0


def test_curve_is_printed_in_percent(run, no_data):
    shares = ["--train", 0.2, "--val", 0.2, "--first-split", 7, "--seed", 1]
    code, out, _ = run("curve", "synthetic", *CURVE, "--epochs", "0,1", "--splits", 2, *shares)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["0", "1"]
    assert all(re.search(r"[\d.]+ ± [\d.]+ %", line) for line in out.splitlines())


def test_curve_rejects_epochs_that_are_not_integers(run, no_data):
    code, _, err = run("curve", "synthetic", "--epochs", "1,b")
    assert code == 2
    assert "--epochs must be non-negative integers separated by commas; got '1,b'" in err


def test_curve_of_other_methods_is_rejected_with_the_alternative(run, no_data):
    code, out, err = run("curve", "synthetic", "--method", "dgi")
    assert (code, out) == (2, "")
    assert "got 'dgi': use graphprox tune synthetic --method dgi --over epochs=50,100,200" in err


# -- graphs without features ----------------------------------------------------------------------------------------


def write_tree(path, nodes):
    path.write_text("".join(f"{child // 3 if child % 3 else 0},{child}\n" for child in range(1, nodes)))
    return path


def test_a_grown_graph_without_features_is_transformed(run, tmp_path, no_data):
    small = ["--method", "ft-gcl", *SMALL, "--epochs", 1, "--device", "cpu"]
    code, _, err = run(
        "embed", write_tree(tmp_path / "a.csv", 1200), *small, "--model", tmp_path / "m", "--out", tmp_path / "a.npy"
    )
    assert (code, err.count("warning: the graph has no features")) == (0, 1)
    grown = write_tree(tmp_path / "b.csv", 5000)
    code, _, err = run("transform", grown, "--model", tmp_path / "m", "--out", tmp_path / "b.npy")
    assert code == 0, err
    assert np.load(tmp_path / "b.npy").shape == (5000, 8)


@pytest.mark.parametrize("method", ["auto", "deepwalk", "node2vec", "line", "verse"])
def test_methods_that_read_no_features_do_not_warn_that_there_are_none(run, tmp_path, no_data, method):
    edges = write_tree(tmp_path / "a.csv", 150)
    sizes = ["--set", "num_walks=1"] if method in ("deepwalk", "node2vec") else []
    code, _, err = run("embed", edges, "--method", method, *sizes, "--out", tmp_path / "a.npy")
    assert code == 0, err
    assert "features" not in err
