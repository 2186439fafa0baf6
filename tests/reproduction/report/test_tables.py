"""Tables as Markdown and as LaTeX."""

from __future__ import annotations

import re

import pytest

from reproduction.report.tables import Heading, ResultTable, TableCell, TableLine, to_latex, to_markdown

TABLE = ResultTable(
    "Accuracy & macro-F1 in percent",
    (Heading("Cora", "accuracy"), Heading("Cora", "macro-F1"), Heading("PubMed", "accuracy", "not run: 5 % | of it")),
    (
        TableLine(
            "F_GCL", (TableCell("83.1 ± 0.2", 1, True, ("83.0, −0.1", "3 of 10")), TableCell("82.0", 2), TableCell("–"))
        ),
        TableLine("paper only"),
        TableLine("DGI", (TableCell("80.0"), TableCell("81.0"), TableCell("82.0")), "3 runs"),
    ),
    corner="row ↓",
    notes=("★ differs significantly from FT-GCL.",),
)


def test_markdown_has_a_row_for_each_line_and_a_field_for_each_column():
    lines = to_markdown(TABLE).splitlines()
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    assert [len(row) for row in rows] == [4] * 5
    assert lines[0] == "**Accuracy & macro-F1 in percent**"
    assert lines[-1] == "★ differs significantly from FT-GCL."


@pytest.mark.parametrize(
    "part",
    [
        r"| F\_GCL | **83.1 ± 0.2** ★<br><sub>83.0, −0.1</sub><br><sub>3 of 10</sub> | _82.0_ | – |",
        "| _paper only_ |  |  |  |",
        "| DGI<br><sub>3 runs</sub> | 80.0 | 81.0 | 82.0 |",
        "Cora<br>macro-F1",
        r"PubMed<br>accuracy<br><sub>not run: 5 % \| of it</sub>",
    ],
)
def test_markdown_emphasizes_the_best_and_has_small_print(part):
    assert part in to_markdown(TABLE)


def test_latex_is_balanced_and_has_a_field_for_each_column():
    text = to_latex(TABLE, "tab:small")
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
        r"{\scriptsize 3 runs} &  &  &  \\",
        r"$^{\star}$ differs significantly from FT-GCL.",
    ],
)
def test_latex_emphasizes_the_best_and_has_small_print(part):
    assert part in to_latex(TABLE, "tab:small")


def test_latex_without_groups_has_one_row_of_headings():
    text = to_latex(ResultTable("One", (Heading("Cora"),), (TableLine("a", (TableCell("1"),)),)), "tab:one")
    assert text.split("\\toprule\n")[1].split("\\bottomrule")[0] == " & Cora \\\\\n\\midrule\na & 1 \\\\\n"


def test_latex_is_escaped():
    text = to_latex(ResultTable(r"a\b ~ ^ {x} $5 #1", (Heading("c"),), ()), "tab:odd")
    assert r"\caption{a\textbackslash{}b \textasciitilde{} \textasciicircum{} \{x\} \$5 \#1.}" in text
