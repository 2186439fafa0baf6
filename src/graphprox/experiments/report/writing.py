"""Writing: sections become files, and all text takes its place together or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from graphprox.errors import ReadError
from graphprox.experiments.figures import save_figure
from graphprox.experiments.report.findings import PAPER, PUBLISHED, gather, read_experiment, read_experiments
from graphprox.experiments.report.page import page, tables_text
from graphprox.experiments.report.paper import Paper
from graphprox.experiments.report.published import baselines_page
from graphprox.experiments.report.sections import Section, section_of
from graphprox.experiments.report.table import as_latex
from graphprox.experiments.report.words import MADE_BY
from graphprox.io.files import writable_folder, written_whole

PAGE, BASELINES = "reproduction.md", "baselines.md"
TABLES, FIGURES = "tables", "figures"


def report_on_all(experiments: Path, results: Path, docs: Path) -> tuple[list[Section], list[Path]]:
    """Write the tables and figures of every experiment that has records, and the page; what was written."""
    paper = Paper.read(experiments / f"{PAPER}.toml")
    sections = [section_of(gather(results, each), paper) for each in read_experiments(experiments)]
    pages = {Path(PAGE): page(sections)}
    published = experiments / f"{PUBLISHED}.toml"
    if published.exists():
        pages[Path(BASELINES)] = baselines_page(sections, Paper.read(published))
    return sections, _write(sections, docs, pages)


def report_on(name: str, experiments: Path, results: Path, docs: Path) -> tuple[Section, list[Path]]:
    """Write the tables and figures of one experiment; what was written."""
    experiment = read_experiment(experiments, name)
    section = section_of(gather(results, experiment), Paper.read(experiments / f"{PAPER}.toml"))
    if not section.findings.records:
        raise ReadError(
            f"a report on {name} needs records of it in {results}; there are none that hold: "
            f"graphprox run {experiments / name}.toml measures them"
        )
    return section, _write([section], docs, {})


def _write(sections: Sequence[Section], docs: Path, more: Mapping[Path, str]) -> list[Path]:
    texts = {path: text for section in sections for path, text in _texts(section).items()} | dict(more)
    for folder in (docs, docs / TABLES, docs / FIGURES):
        writable_folder(folder)
    drawn = [
        path
        for section in sections
        if section.figure is not None
        for path in save_figure(section.figure, docs / FIGURES, section.findings.experiment.name)
    ]
    paths = [docs / path for path in texts]
    if paths:
        with written_whole(*paths) as staged:
            for temporary, text in zip(staged, texts.values(), strict=True):
                temporary.write_text(text, encoding="utf-8")
    return [*paths, *drawn]


def _texts(section: Section) -> dict[Path, str]:
    """The tables of an experiment as Markdown, CSV and LaTeX, by their paths below the docs."""
    if not section.tables:
        return {}
    base = Path(TABLES, section.findings.experiment.name)
    return {
        base.with_suffix(".md"): tables_text(section),
        base.with_suffix(".csv"): section.listing,
        base.with_suffix(".tex"): _latex(section),
    }


def _latex(section: Section) -> str:
    experiment = section.findings.experiment
    labels = [experiment.name, *(f"{experiment.name}-{number}" for number in range(2, len(section.tables) + 1))]
    tables = [
        as_latex(replace(table, caption=f"{experiment.title}. {table.caption}"), f"tab:{label}")
        for table, label in zip(section.tables, labels, strict=True)
    ]
    return "\n".join([f"% made by `{MADE_BY} {experiment.name}`; needs \\usepackage{{booktabs}}", "", *tables])
