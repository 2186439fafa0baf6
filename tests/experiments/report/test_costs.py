"""What an embedding took."""

from __future__ import annotations

import pytest

from graphprox.experiments.report.costs import cost_of, cost_table


def test_time_is_the_median_and_memory_the_peak(results, make):
    findings = results.keep(make(seeds=4))
    cost = cost_of(findings, "Cora", "ft-gcl")
    assert cost.seconds == pytest.approx((3 + 4) / 2)  # of 2, 3, 4 and 5
    assert cost.megabytes == pytest.approx(812.000003)
    assert cost.threads == (1,)


def test_links_take_an_embedding_for_each_split(results, make):
    findings = results.keep(make(task="links", metrics=["auc"], seeds=1))
    assert cost_of(findings, "Cora", "ft-gcl").seconds == pytest.approx(2 / 5)


def test_the_table_lists_what_is_trained(results, make):
    table = cost_table(results.keep(make(rows=["raw", "untrained", "f-gcl", "ft-gcl"])))
    assert [line.title for line in table.lines] == ["F-GCL", "FT-GCL"]
    assert table.lines[0].entries[0].text == "2.5 s, 812 MB"
    assert table.caption.endswith("on 1 thread")


@pytest.mark.parametrize(("seconds", "text"), [(1234.5, "1,234 s"), (12.34, "12.3 s"), (0.123, "0.12 s")])
def test_short_times_have_more_digits(results, make, seconds, text):
    table = cost_table(results.keep(make(seeds=1), seconds={"embed": seconds}))
    assert table.lines[0].entries[0].text == f"{text}, 812 MB"


def test_a_system_that_does_not_tell_its_memory_is_left_out_of_it(results, make):
    findings = results.keep(make(seeds=1), peak_memory=None, threads=4, seconds={"embed": 1234.5})
    table = cost_table(findings)
    assert table.lines[0].entries[0].text == "1,234 s"
    assert table.caption.endswith("on 4 threads")


def test_without_training_there_is_no_table(results, make):
    assert cost_table(results.keep(make(rows=["raw"]))) is None
    assert cost_table(results.keep(make(name="other"), seconds={"evaluate": 1.0})) is None


def test_what_a_processor_took_counts_more_than_the_clock(results, make):
    findings = results.keep(make(seeds=1), seconds={"embed": 90.0, "processor": 12.0})
    assert cost_of(findings, "Cora", "ft-gcl").seconds == pytest.approx(12)


def test_what_learns_classes_is_trained_for_each_split(results, make):
    findings = results.keep(make(rows=["gcn", "ft-gcl"], seeds=1))
    assert cost_of(findings, "Cora", "gcn").seconds == pytest.approx(2 / 5)
