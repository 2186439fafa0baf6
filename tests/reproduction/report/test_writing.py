"""Reports are written atomically, from records alone, and are deterministic."""

from __future__ import annotations

import json
import shutil

import pytest
import tomli_w

from graphprox import ReadError, WriteError
from graphprox.io.storage import files
from graphprox.methods import GraphEmbedder, NodeClassifier
from reproduction.report.page import make_section, tables_text
from reproduction.report.writing import report_all, report_experiment

FIGURES = {"bars", "curves", "heatmap", "map", "barbell"}
TABLES = {"table", "ablation", "links", "bars", "curves", "heatmap", "homophily"}


@pytest.fixture
def folders(of_each_kind, kept, paper, tmp_path):
    """Experiments as files, a record of each trial, and a place for docs."""
    experiments, records = tmp_path / "experiments", tmp_path / "records"
    shutil.copytree(kept.folder, records)
    experiments.mkdir()
    for each in of_each_kind:
        fields = json.loads(each.model_dump_json(exclude={"name"}, exclude_none=True, exclude_defaults=True))
        (experiments / f"{each.name}.toml").write_text(tomli_w.dumps(fields))
    (experiments / "paper.toml").write_text(tomli_w.dumps(dict(paper.tables)))
    return experiments, records, tmp_path / "docs"


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_report_writes_pages_tables_and_figures_deterministically(folders, tmp_path):
    experiments, records, docs_folder = folders
    _, written = report_all(*folders)
    docs = contents(docs_folder)
    assert set(docs) == {
        "index.md",
        *(f"tables/{name}.{ending}" for name in TABLES for ending in ("md", "csv", "tex")),
        *(f"figures/{name}.{ending}" for name in FIGURES for ending in ("png", "svg")),
    }
    assert {path.relative_to(docs_folder).as_posix() for path in written} == set(docs)
    report_experiment("bars", experiments, records, tmp_path / "again")
    again = contents(tmp_path / "again")
    assert len(again) == 5
    assert again.items() <= docs.items()


def test_report_of_one_experiment_writes_the_same_files(folders, tmp_path, fast_figures):
    experiments, records, docs = folders
    report_all(experiments, records, docs)
    section, _ = report_experiment("bars", experiments, records, tmp_path / "one")
    assert section.findings.experiment.name == "bars"
    alone = contents(tmp_path / "one")
    assert sorted(alone) == [
        "figures/bars.png",
        "figures/bars.svg",
        *(f"tables/bars.{e}" for e in ("csv", "md", "tex")),
    ]
    assert alone.items() <= contents(docs).items()


def test_report_loads_no_data_set_and_trains_no_model(folders, monkeypatch, fast_figures):
    def refuse(*_, **__):
        raise AssertionError

    import graphprox.datasets.named

    for kind in (GraphEmbedder, NodeClassifier):
        monkeypatch.setattr(kind, "fit", refuse)
    monkeypatch.setattr(graphprox.datasets.named, "load_dataset", refuse)
    sections, paths = report_all(*folders)
    assert any(section.findings.records for section in sections)
    assert all(path.is_file() for path in paths)


def test_failed_report_leaves_all_text_as_it_was(folders, monkeypatch, fast_figures):
    experiments, records, docs = folders
    report_all(experiments, records, docs)
    before = {name: text for name, text in contents(docs).items() if not name.startswith("figures/")}
    (records / "table.jsonl").unlink()
    flush, flushed = files.flush_file, []

    def full(path):
        flushed.append(path)
        if len(flushed) == 5:
            raise OSError(28, "No space left on device")
        flush(path)

    monkeypatch.setattr(files, "flush_file", full)
    with pytest.raises(WriteError, match="cannot be written"):
        report_all(experiments, records, docs)
    after = {name: text for name, text in contents(docs).items() if not name.startswith("figures/")}
    assert after == before


def test_invalid_record_leaves_the_docs_as_they_were(folders):
    experiments, records, docs = folders
    path = records / "table.jsonl"
    path.write_text(path.read_text().replace('"accuracy"', '"precision"'))
    with pytest.raises(ReadError, match="must have accuracy"):
        report_all(experiments, records, docs)
    assert not docs.exists()


def test_missing_records_are_counted_and_the_rest_is_reported(folders, of_each_kind, fast_figures):
    _, records, docs = folders
    for path in records.glob("*.jsonl"):
        first, *_ = path.read_text().splitlines(keepends=True)
        path.write_text(first)
    sections, _ = report_all(*folders)
    assert [len(section.findings.all_records) for section in sections] == [1] * len(of_each_kind)
    page = (docs / "index.md").read_text()
    assert "1 of 2 runs" in page
    assert "0 of 2 runs" in page
    for section in sections:
        expected = sum(section.findings.expected.values())
        assert f"| `{section.findings.experiment.name}` |" in page
        assert f"| 1 of {expected} |" in page


@pytest.mark.parametrize("missing", ["raw", "ft-gcl"])
def test_table_without_the_reference_or_another_row_is_reported(records, make, paper, missing):
    findings = records.keep(make(), lambda trial: None if trial.row_name == missing else {"accuracy": [0.8] * 5})
    text = tables_text(make_section(findings, paper))
    assert ("0 of 2 runs" if missing == "ft-gcl" else "0 of 1 run") in text
    assert "80.00" in text
    assert "★" not in text


def test_report_of_an_experiment_without_records_is_an_error(folders, tmp_path):
    experiments, _, docs = folders
    with pytest.raises(ReadError, match=r"needs its records.*python -m reproduction run bars first"):
        report_experiment("bars", experiments, tmp_path / "nowhere", docs)
    assert not docs.exists()


def test_page_is_written_without_records(folders, tmp_path):
    experiments, _, docs = folders
    _, written = report_all(experiments, tmp_path / "nowhere", docs)
    assert written == [docs / "index.md"]
    assert "There are no records yet" in written[0].read_text()
