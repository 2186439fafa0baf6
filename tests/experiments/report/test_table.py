"""The same table in Markdown and in LaTeX."""

from __future__ import annotations

import re

import pytest

from graphprox.experiments.report.table import Entry, Heading, Line, Table, as_latex, as_markdown

TABLE = Table(
    "Accuracy & macro-F1 in percent",
    (Heading("Cora", "accuracy"), Heading("Cora", "macro-F1"), Heading("PubMed", "accuracy", "not run: 5 % | of it")),
    (
        Line("F_GCL", (Entry("83.1 ± 0.2", 1, True, ("83.0, −0.1", "3 of 10")), Entry("82.0", 2), Entry("–"))),
        Line("paper only"),
        Line("DGI", (Entry("80.0"), Entry("81.0"), Entry("82.0")), "3 trainings"),
    ),
    corner="row ↓",
    notes=("★ differs from FT-GCL.",),
)


def test_markdown_has_a_row_for_each_line_and_a_field_for_each_column():
    lines = as_markdown(TABLE).splitlines()
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    assert [len(row) for row in rows] == [4] * 5
    assert lines[0] == "**Accuracy & macro-F1 in percent**"
    assert lines[-1] == "★ differs from FT-GCL."


@pytest.mark.parametrize(
    "part",
    [
        r"| F\_GCL | **83.1 ± 0.2** ★<br><sub>83.0, −0.1</sub><br><sub>3 of 10</sub> | _82.0_ | – |",
        "| _paper only_ |  |  |  |",
        "| DGI<br><sub>3 trainings</sub> | 80.0 | 81.0 | 82.0 |",
        "Cora<br>macro-F1",
        r"PubMed<br>accuracy<br><sub>not run: 5 % \| of it</sub>",
    ],
)
def test_markdown_shows_what_is_best_and_what_stands_below(part):
    assert part in as_markdown(TABLE)


def test_latex_has_a_field_for_each_column_and_closes_what_it_opens():
    text = as_latex(TABLE, "tab:small")
    begun, ended = (re.findall(rf"\\{word}\{{(\w+)\}}", text) for word in ("begin", "end"))
    assert sorted(begun) == sorted(ended) == ["table", "tabular"]
    assert r"\begin{tabular}{lccc}" in text
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    for row in text.splitlines():
        if row.endswith(r"\\"):
            spanned = sum(int(width) - 1 for width in re.findall(r"\\multicolumn\{(\d+)\}", row))
            assert len(re.findall(r"(?<!\\)&", row)) + spanned == 3, row


@pytest.mark.parametrize(
    "part",
    [
        r"\caption{Accuracy \& macro-F1 in percent.}",
        r"\label{tab:small}",
        r" & \multicolumn{2}{c}{Cora} & \multicolumn{1}{c}{PubMed} \\",
        r"row $\downarrow$ & accuracy & macro-F1 & accuracy \\",
        r"{\scriptsize not run: 5 \% | of it}",
        r"F\_GCL & \textbf{83.1 $\pm$ 0.2}$^{\star}$ & \underline{82.0} & -- \\",
        r" & {\scriptsize 83.0, $-$0.1, 3 of 10} &  &  \\",
        r"\multicolumn{4}{l}{\textit{paper only}} \\",
        r"{\scriptsize 3 trainings} &  &  &  \\",
        r"$^{\star}$ differs from FT-GCL.",
    ],
)
def test_latex_shows_the_same(part):
    assert part in as_latex(TABLE, "tab:small")


def test_a_plain_table_has_one_row_of_headings():
    text = as_latex(Table("One", (Heading("Cora"),), (Line("a", (Entry("1"),)),)), "tab:one")
    assert text.split("\\toprule\n")[1].split("\\bottomrule")[0] == " & Cora \\\\\n\\midrule\na & 1 \\\\\n"


def test_what_latex_reads_as_a_command_is_made_harmless():
    text = as_latex(Table(r"a\b ~ ^ {x} $5 #1", (Heading("c"),), ()), "tab:odd")
    assert r"\caption{a\textbackslash{}b \textasciitilde{} \textasciicircum{} \{x\} \$5 \#1.}" in text
