"""Reports are written whole, from records alone, and are the same bytes each time."""

from __future__ import annotations

import json

import pytest
import tomli_w

from graphprox import ReadError, WriteError
from graphprox.experiments.report.writing import report_on, report_on_all
from graphprox.io import files

PICTURES = {"bars", "curves", "heatmap", "map", "barbell"}
TABLES = {"table", "ablation", "links", "bars", "curves", "heatmap", "homophily"}


@pytest.fixture
def folders(of_each_kind, results, paper, tmp_path):
    """Experiments as files, a record of each trial, and a place for docs."""
    experiments = tmp_path / "experiments"
    experiments.mkdir()
    for each in of_each_kind:
        fields = json.loads(each.model_dump_json(exclude={"name"}, exclude_none=True, exclude_defaults=True))
        (experiments / f"{each.name}.toml").write_text(tomli_w.dumps(fields))
        results.keep(each)
    (experiments / "paper.toml").write_text(tomli_w.dumps(dict(paper.tables)))
    return experiments, results.folder, tmp_path / "docs"


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_everything_is_written_and_nothing_else(folders):
    _, written = report_on_all(*folders)
    docs = contents(folders[2])
    assert set(docs) == {
        "reproduction.md",
        *(f"tables/{name}.{ending}" for name in TABLES for ending in ("md", "csv", "tex")),
        *(f"figures/{name}.{ending}" for name in PICTURES for ending in ("png", "svg")),
    }
    assert {path.relative_to(folders[2]).as_posix() for path in written} == set(docs)


def test_two_reports_are_the_same_bytes(folders, tmp_path):
    experiments, results, docs = folders
    report_on_all(experiments, results, docs)
    report_on_all(experiments, results, tmp_path / "again")
    assert contents(docs) == contents(tmp_path / "again")


def test_one_experiment_writes_the_same_files_alone(folders, tmp_path):
    experiments, results, docs = folders
    report_on_all(experiments, results, docs)
    section, _ = report_on("bars", experiments, results, tmp_path / "one")
    assert section.findings.experiment.name == "bars"
    alone = contents(tmp_path / "one")
    assert sorted(alone) == [
        "figures/bars.png",
        "figures/bars.svg",
        *(f"tables/bars.{e}" for e in ("csv", "md", "tex")),
    ]
    assert alone.items() <= contents(docs).items()


def test_nothing_is_loaded_and_nothing_trained(folders, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError

    import graphprox.datasets.named
    import graphprox.methods.embedders
    import graphprox.training.trainer

    monkeypatch.setattr(graphprox.methods.embedders, "fit", refuse)
    monkeypatch.setattr(graphprox.training.trainer.Trainer, "__init__", refuse)
    monkeypatch.setattr(graphprox.datasets.named, "load_dataset", refuse)
    sections, paths = report_on_all(*folders)
    assert any(section.findings.records for section in sections)
    assert all(path.is_file() for path in paths)


def test_no_text_takes_its_place_unless_all_can(folders, monkeypatch):
    experiments, results, docs = folders
    report_on_all(experiments, results, docs)
    before = {name: text for name, text in contents(docs).items() if not name.startswith("figures/")}
    for path in (results / "table").rglob("*.json"):
        path.unlink()
    flush, flushed = files._flush_to_disk, []

    def full(path):
        flushed.append(path)
        if len(flushed) == 15:  # ten are pictures
            raise OSError(28, "No space left on device")
        flush(path)

    monkeypatch.setattr(files, "_flush_to_disk", full)
    with pytest.raises(WriteError, match="cannot be written"):
        report_on_all(experiments, results, docs)
    after = {name: text for name, text in contents(docs).items() if not name.startswith("figures/")}
    assert after == before


def test_an_experiment_that_cannot_be_shown_leaves_the_docs_alone(folders):
    experiments, results, docs = folders
    path = next((results / "table").rglob("*.json"))
    path.write_text(path.read_text().replace('"accuracy"', '"precision"'))
    with pytest.raises(ReadError, match="must hold accuracy"):
        report_on_all(experiments, results, docs)
    assert not docs.exists()


def test_a_report_on_an_experiment_without_records_is_refused(folders, tmp_path):
    experiments, _, docs = folders
    with pytest.raises(ReadError, match=r"needs records of it.*graphprox run .*bars\.toml measures them"):
        report_on("bars", experiments, tmp_path / "nowhere", docs)
    assert not docs.exists()


def test_without_records_there_is_a_page_that_says_so(folders, tmp_path):
    experiments, _, docs = folders
    _, written = report_on_all(experiments, tmp_path / "nowhere", docs)
    assert written == [docs / "reproduction.md"]
    assert "There are no records yet" in written[0].read_text()
