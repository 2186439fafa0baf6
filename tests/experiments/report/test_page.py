"""The page says what was measured, how to read it, and what is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphprox.experiments.report.findings import gather
from graphprox.experiments.report.numbers import anchor
from graphprox.experiments.report.page import page, section_text
from graphprox.experiments.report.sections import section_of


@pytest.fixture
def whole(of_each_kind, results, paper):
    """The page of an experiment of each kind."""
    return page([section_of(results.keep(experiment), paper) for experiment in of_each_kind])


def test_the_first_line_says_what_made_it(whole):
    assert whole.splitlines()[0].startswith("<!-- Made by `graphprox report`")


def test_every_link_leads_somewhere(whole):
    headings = {anchor(heading) for heading in re.findall(r"^## (.*)$", whole, flags=re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]*)\)", whole)) <= headings
    pictures = {"bars", "curves", "heatmap", "map", "barbell"}
    assert set(re.findall(r"!\[.*?\]\(figures/(\w+)\.svg\)", whole)) == pictures
    tables = {"table", "ablation", "links", "bars", "curves", "heatmap", "homophily"}
    assert set(re.findall(r"\(tables/(\w+)\.csv\)", whole)) == tables


def test_what_folds_unfolds(whole):
    assert whole.count("<details>") == whole.count("</details>") > 0
    assert whole.count("```") % 2 == 0


def test_every_row_has_a_command(whole, of_each_kind):
    for experiment in of_each_kind:
        for trial in experiment.trials():
            assert f"\n$ {trial.command}\n" in whole


def test_the_legend_explains_every_mark(whole):
    legend = whole.partition("## How to read")[2].partition("## How to run")[0]
    for said in ("±", "★", "**Bold**", "_slanted_", "overlap", "3 of 10 trainings", "chosen where"):
        assert said in legend


def test_versions_are_counted(results, make, paper):
    results.keep(make(), versions={"python": "3.11.9", "torch": "2.13.0"})
    results.keep(make(name="other", seeds=1), versions={"python": "3.12.1", "torch": "2.13.0"})
    sections = [section_of(gather(results.folder, each), paper) for each in (make(), make(name="other", seeds=1))]
    assert page(sections).rstrip().splitlines()[-4:] == [
        "| records | python | torch |",
        "|---|---|---|",
        "| 6 | 3.11.9 | 2.13.0 |",
        "| 4 | 3.12.1 | 2.13.0 |",
    ]


def test_what_is_below_the_paper_is_listed(results, make, paper):
    findings = results.keep(make(), lambda _: {"accuracy": [0.81, 0.82, 0.83, 0.84, 0.85]})
    listed = page([section_of(findings, paper)]).partition("## Below the paper")[2].partition("## Versions")[0]
    assert "held against the paper in 2 cells, and falls short of it in 1" in listed
    assert "| small | Cora | FT-GCL | accuracy | 83.00 ± 1.41 | 84.07 ± 0.58 | −1.07 |" in listed
    assert "CiteSeer" not in listed


def test_where_nothing_is_below_the_paper_it_says_so(results, make, paper):
    above = section_of(results.keep(make(), lambda _: {"accuracy": [0.95] * 5}), paper)
    assert "in 2 cells, and falls short of it in none." in page([above])
    unknown = section_of(results.keep(make(name="other", paper=None)), paper)
    assert "No figure of the paper's has been measured yet." in page([unknown])


def test_what_was_tried_is_told_of_each_data_set(results, make, paper):
    means = {"ft-gcl": 0.8, "f-gcl": 0.9, "raw": 0.7, "smoothed": 0.81}
    experiment = make(title="What mattered", metrics=["validation_accuracy"], rows=[*means], paper=None)

    def figures(trial):
        spread = [0, 0.01, -0.01, 0.02, -0.02] if trial.row_name == "smoothed" else [0] * 5
        lower = 0.15 if trial.dataset == "CiteSeer" and trial.row_name != "ft-gcl" else 0
        return {"validation_accuracy": [means[trial.row_name] - lower + each for each in spread]}

    tried = page([section_of(results.keep(experiment, figures), paper)]).partition("## Below the paper")[2]
    assert "on validation nodes ([What mattered](#what-mattered)):" in tried
    assert "- Cora: 3 variants, 2 better than FT-GCL, 1 of them by the paired test; the best: F-GCL, +10.00." in tried
    assert "- CiteSeer: 3 variants, none better than FT-GCL." in tried


def test_records_of_other_settings_are_counted_and_named(results, make, paper):
    results.keep(make())
    text = section_text(section_of(gather(results.folder, make(splits=6)), paper))
    assert "6 records were measured with other settings than today's, and not used: " in text
    assert "`small/CiteSeer/ft-gcl` (2)" in text
    assert "Not run yet: `graphprox run experiments/small.toml`." in text
    Path(results.folder / "small" / "Cora" / "ft-gcl" / "9.json").write_text("{}")
    text = section_text(section_of(gather(results.folder, make()), paper))
    assert "1 record was measured with other settings than today's, and not used: `small/Cora/ft-gcl` (1)." in text


def test_without_any_record_the_page_says_so(results, make, paper):
    text = page([section_of(gather(results.folder, make()), paper)])
    assert "There are no records yet" in text
    assert "graphprox run experiments/NAME.toml" in text
    assert "|" not in text


def test_no_path_of_this_machine_is_told(whole, tmp_path):
    assert str(tmp_path) not in whole
    assert str(Path(__file__).resolve().parents[3]) not in whole
