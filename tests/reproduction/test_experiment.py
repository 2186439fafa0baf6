from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from graphprox import FTGCL, METHODS, ParameterError, ReadError
from graphprox.evaluation.protocols import PROTOCOLS
from graphprox.methods import GraphEmbedder
from reproduction import experiment
from reproduction.experiment import Experiment, ExperimentRow, list_trials, read_experiment, read_experiments

EXPERIMENTS = Path(__file__).resolve().parents[2] / "reproduction" / "experiments"
DECLARED = sorted(path for path in EXPERIMENTS.glob("*.toml") if path.stem not in ("paper", "published"))
TOML = 'title = "One"\ndatasets = ["Cora"]\nrows = ["raw"]\norder = {order}\n'


def test_deterministic_rows_have_one_trial_and_stochastic_rows_one_per_seed(small):
    keys = [trial.key for trial in Experiment.read(small).trials()]
    assert keys == [
        (("synthetic"), row, seed) for row, seed in (("raw", 0), ("smoothed", 0), ("small", 0), ("small", 1))
    ]
    (one,) = Experiment.read(small).trials(seeds=1, row="small")
    assert one.key == ("synthetic", "small", 0)


def test_command_names_experiment_data_set_and_row(small):
    trial = Experiment.read(small).trials()[0]
    assert trial.command == "python -m reproduction run small --only synthetic --row raw"


def test_every_protocol_can_be_declared():
    assert get_args(Experiment.model_fields["protocol"].annotation) == tuple(PROTOCOLS)


def test_row_without_a_title_has_that_of_its_method(make):
    assert ExperimentRow(method="ft-gcl").title == ""
    assert make().all_rows["ft-gcl"].title == "FT-GCL"


def test_grid_has_a_row_for_each_combination():
    experiment = Experiment(
        name="grid",
        title="A grid",
        datasets=["synthetic"],
        seeds=1,
        grid={"encoder.n_components": [8, 16], "head.out_channels": [4, 8, 12]},
        grid_row={"method": "ft-gcl"},
    )
    assert len(experiment.all_rows) == 6
    (trial,) = experiment.trials(row="encoder.n_components=16,head.out_channels=4")
    settings = trial.settings()["recipe"]
    assert (settings["encoder"]["n_components"], settings["head"]["out_channels"]) == (16, 4)


def test_preset_can_depend_on_the_data_set():
    experiment = Experiment(
        name="printed",
        title="As printed",
        datasets=["Cora", "Texas"],
        rows=["printed"],
        seeds=1,
        variants={
            "printed": {"method": "ft-gcl", "preset": "{dataset}-paper", "without": {"Texas": "none is printed"}}
        },
    )
    (trial,) = experiment.trials()
    assert trial.dataset == "Cora"
    assert trial.settings()["recipe"]["views"]["k_max"] == 8


def test_rows_without_a_preset_have_that_of_the_experiment(make):
    variants = {"printed": {"method": "ft-gcl", "preset": "Texas"}, "small": {"method": "ft-gcl", "set": {"epochs": 3}}}
    rows = ["ft-gcl", "small", "printed"]
    tuned, untuned = (make(rows=rows, variants=variants, **changes) for changes in ({}, {"preset": "default"}))

    def settings(experiment, row):
        return experiment.trials(only="Cora", row=row)[0].settings()["recipe"]

    assert {name: row.preset for name, row in untuned.all_rows.items()} == dict(
        zip(rows, ["default", "default", "Texas"], strict=True)
    )
    assert settings(untuned, "ft-gcl") != settings(tuned, "ft-gcl")
    assert settings(untuned, "ft-gcl") == {**settings(untuned, "small"), "epochs": FTGCL.from_preset().epochs}
    assert settings(untuned, "printed") == settings(tuned, "printed")


def test_fingerprint_depends_on_settings_and_graph_only(small):
    text = small.read_text()

    def fingerprint(changed: str, graph: str = "a graph") -> str:
        small.write_text(changed)
        return Experiment.read(small).trials(row="small")[0].fingerprint(graph)

    same = fingerprint(text)
    assert fingerprint(text.replace("A small", "Another")) == same
    assert fingerprint(text, graph="another graph") != same
    for old, new in (("epochs = 3", "epochs = 4"), ("splits = 3", "splits = 4"), ("method", "preset = 'Cora'\nmethod")):
        assert fingerprint(text.replace(old, new)) != same
    assert fingerprint(text.replace("seeds = 2", "seeds = 9")) == same


def test_fingerprint_changes_with_the_arithmetic_of_the_method_alone(small, monkeypatch):
    trial = Experiment.read(small).trials(row="small")[0]
    before = trial.fingerprint("a graph")
    monkeypatch.setattr(experiment, "METHOD_ARITHMETIC", {"another": 2})
    assert trial.fingerprint("a graph") == before
    monkeypatch.setattr(experiment, "METHOD_ARITHMETIC", {trial.row.method: 1})
    assert trial.fingerprint("a graph") != before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"raw"', '"rau"', "rows must name methods or variants; got 'rau': did you mean 'raw'"),
        ("seeds = 2", "seeds = 0", "seeds is invalid"),
        ("seeds = 2", "seed = 2", "seed is invalid"),
        ("title =", "title", "must be TOML"),
        ('rows = ["raw", "smoothed", "small"]', "", "must have rows"),
        ("splits = 3", "splits = 3\nname = 'other'", "name"),
        ("method =", "seeds = { Cora = 3 }\nmethod =", "a data set of variants.small must be one of small; got 'Cora'"),
        ("method =", 'without = { Cora = "large" }\nmethod =', "a data set of variants.small must be one of small"),
    ],
)
def test_invalid_file_is_described_in_one_sentence(small, old, new, message):
    small.write_text(small.read_text().replace(old, new))
    with pytest.raises(ReadError, match=message) as caught:
        Experiment.read(small)
    assert str(small) in str(caught.value)


def test_unknown_data_set_or_row_is_an_error(small):
    with pytest.raises(ParameterError, match="did you mean 'synthetic'"):
        Experiment.read(small).trials(only="syntetic")
    with pytest.raises(ParameterError, match="row must be one of small"):
        Experiment.read(small).trials(row="dgi")


def test_experiments_without_the_data_set_are_skipped(make):
    here, elsewhere = make(name="here"), make(name="elsewhere", datasets=["ACM"])
    assert {trial.experiment.name for trial in list_trials([here, elsewhere], only="Cora")} == {"here"}
    with pytest.raises(ParameterError, match="only must be one of here; got 'Coraa'"):
        list_trials([here, elsewhere], only="Coraa")


# -- folders ----------------------------------------------------------------------------------------------------------


def test_experiments_are_ordered_and_exclude_reported_figures(tmp_path):
    for name, order in {"b": 1, "a": 1, "c": 0}.items():
        (tmp_path / f"{name}.toml").write_text(TOML.format(order=order))
    (tmp_path / "paper.toml").write_text("x = 1")
    assert [each.name for each in read_experiments(tmp_path)] == ["c", "a", "b"]
    with pytest.raises(ReadError, match="got 'paper': valid names are a, b, c"):
        read_experiment("paper", tmp_path)


def test_experiment_is_read_by_name_or_path(tmp_path):
    (tmp_path / "a.toml").write_text(TOML.format(order=1))
    assert read_experiment("a", tmp_path) == read_experiment(str(tmp_path / "a.toml"), tmp_path / "elsewhere")


def test_folder_without_experiments_is_an_error(tmp_path):
    with pytest.raises(ReadError, match="must contain experiments"):
        read_experiments(tmp_path / "nowhere")


# -- the experiments of the paper -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", DECLARED, ids=lambda path: path.stem)
def test_declared_experiment_has_unique_trials(path):
    trials = Experiment.read(path).trials()
    assert trials
    assert len({trial.key for trial in trials}) == len(trials)


@pytest.mark.parametrize("name", ["random", "more", "disassortative", "public"])
def test_every_classification_table_has_floors_and_single_view_rows(name):
    rows = Experiment.read(EXPERIMENTS / f"{name}.toml").all_rows
    assert {"raw", "smoothed", "diffused", "untrained", "f-gcl", "t-gcl", "ft-gcl", "auto"} <= set(rows)


@pytest.mark.parametrize("path", DECLARED, ids=lambda path: path.stem)
def test_tables_with_floors_have_diffused_features_and_end_with_auto(path):
    rows = Experiment.read(path).all_rows
    if "smoothed" not in rows:
        return
    names = [name for name, row in rows.items() if issubclass(METHODS[row.method], GraphEmbedder)]
    assert names[:3] == ["raw", "smoothed", "diffused"]
    assert names[-1] == "auto"
    assert (rows["auto"].method, rows["auto"].set) == ("auto", {})


def test_page_begins_with_graphs_without_presets():
    assert [each.name for each in read_experiments(EXPERIMENTS)][:3] == ["untuned", "untuned-links", "random"]


@pytest.mark.parametrize("name", ["untuned", "untuned-links"])
def test_untuned_methods_have_their_default_settings(name):
    experiment = Experiment.read(EXPERIMENTS / f"{name}.toml")
    # With its defaults node2vec is DeepWalk.
    assert {row for row, each in experiment.all_rows.items() if each.set} == {"node2vec"}
    assert {each.preset for each in experiment.all_rows.values()} == {"default"}
    assert experiment.reference == "auto"


def test_map_has_the_panels_of_the_paper_and_auto():
    rows = Experiment.read(EXPERIMENTS / "map.toml").rows
    assert rows == ("deepwalk", "gae", "dgi", "grace", "ft-gcl", "auto")
