"""Experiments as data."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from graphprox import ParameterError, ReadError
from graphprox.evaluation.protocols import PROTOCOLS
from graphprox.experiments.spec import Experiment

ROOT = Path(__file__).resolve().parents[2]
DECLARED = sorted(path for path in (ROOT / "experiments").glob("*.toml") if path.stem not in ("paper", "published"))


def test_trials_are_rows_on_data_sets_from_seeds_and_what_is_not_drawn_has_one(small):
    found = [(trial.row_name, trial.seed) for trial in Experiment.read(small).trials()]
    assert found == [("raw", 0), ("smoothed", 0), ("small", 0), ("small", 1)]
    (one,) = Experiment.read(small).trials(seeds=1, row="small")
    assert (one.row_name, one.seed) == ("small", 0)


def test_any_protocol_may_be_declared():
    assert get_args(Experiment.model_fields["protocol"].annotation) == tuple(PROTOCOLS)


def test_a_grid_has_a_row_for_each_combination():
    experiment = Experiment(
        name="grid",
        title="A grid",
        datasets=["synthetic"],
        seeds=1,
        grid={"encoder.width": [8, 16], "head.width": [4, 8, 12]},
        grid_row={"method": "ft-gcl"},
    )
    rows = experiment.all_rows
    assert len(rows) == 6
    recipe = rows["encoder.width=16,head.width=4"].maker("synthetic").settings
    assert (recipe["encoder"]["width"], recipe["head"]["width"]) == (16, 4)


def test_a_preset_can_go_by_the_data_set():
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
    assert trial.maker.settings["views"]["k_max"] == 8


def test_the_fingerprint_changes_with_all_that_figures_depend_on_and_with_nothing_else(small):
    text = small.read_text()

    def fingerprint(changed: str, graph: str = "a graph") -> str:
        small.write_text(changed)
        return Experiment.read(small).trials(row="small")[0].fingerprint(graph)

    same = fingerprint(text)
    assert fingerprint(text.replace("A small", "Another")) == same
    assert fingerprint(text, graph="another graph") != same
    for old, new in (("steps = 3", "steps = 4"), ("splits = 3", "splits = 4"), ("method", "preset = 'Cora'\nmethod")):
        assert fingerprint(text.replace(old, new)) != same
    assert fingerprint(text.replace("seeds = 2", "seeds = 9")) == same


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"raw"', '"rau"', "rows must name methods or variants; got 'rau': did you mean 'raw'"),
        ("seeds = 2", "seeds = 0", "seeds is not as it must be"),
        ("seeds = 2", "seed = 2", "seed is not as it must be"),
        ("title =", "title", "must be TOML"),
        ('rows = ["raw", "smoothed", "small"]', "", "must have rows"),
        ("splits = 3", "splits = 3\nname = 'other'", "name"),
        ("method =", "seeds = { Cora = 3 }\nmethod =", "a data set of variants.small must be of small; got 'Cora'"),
        ("method =", 'without = { Cora = "large" }\nmethod =', "a data set of variants.small must be of small"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_a_sentence(small, old, new, said):
    small.write_text(small.read_text().replace(old, new))
    with pytest.raises(ReadError, match=said) as caught:
        Experiment.read(small)
    assert str(small) in str(caught.value)


def test_only_what_is_declared_can_be_asked_for(small):
    with pytest.raises(ParameterError, match="did you mean 'synthetic'"):
        Experiment.read(small).trials(only="syntetic")
    with pytest.raises(ParameterError, match="row must be of small"):
        Experiment.read(small).trials(row="dgi")


@pytest.mark.parametrize("path", DECLARED, ids=lambda path: path.stem)
def test_what_is_declared_can_be_run(path):
    experiment = Experiment.read(path)
    trials = experiment.trials()
    assert trials
    assert len({trial.path for trial in trials}) == len(trials)
    assert all(trial.settings() for trial in trials)


@pytest.mark.parametrize("name", ["random", "more", "disassortative", "public"])
def test_every_table_of_classification_has_the_rows_that_keep_it_honest(name):
    rows = Experiment.read(ROOT / "experiments" / f"{name}.toml").all_rows
    assert {"raw", "smoothed", "untrained", "f-gcl", "t-gcl", "ft-gcl"} <= set(rows)


def test_a_record_stays_in_the_folder_of_results_whatever_a_data_set_is_called(small, tmp_path):
    for name in ("/elsewhere/mine.npz", "../../mine.npz", "..", "a\\\\b"):
        small.write_text(small.read_text().replace('["synthetic"]', f'["{name}"]'))
        paths = [tmp_path / trial.path for trial in Experiment.read(small).trials(seeds=1)]
        assert all(path.resolve().parents[2] == (tmp_path / "small").resolve() for path in paths)
        small.write_text(small.read_text().replace(f'["{name}"]', '["synthetic"]'))
