"""Reporting progress."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from graphprox import DGI, synthetic
from graphprox._utils.progress import PrintProgress, current_progress, report_progress


def test_progress_is_reported_inside_the_block_only():
    def progress(stage, done, total, note=""):
        pass

    assert current_progress() is None
    with report_progress(progress):
        assert current_progress() is progress
        with report_progress(None):
            assert current_progress() is None
        assert current_progress() is progress
    assert current_progress() is None


def test_block_ends_after_an_error():
    with pytest.raises(ZeroDivisionError), report_progress(print):
        raise ZeroDivisionError
    assert current_progress() is None


def test_threads_do_not_share_progress():
    with report_progress(print), ThreadPoolExecutor(1) as pool:
        assert pool.submit(current_progress).result() is None


def test_fit_reports_to_the_current_progress_even_if_it_is_verbose(capsys):
    calls = []
    with report_progress(lambda stage, done, total, note="": calls.append((stage, done, total, note))):
        DGI(n_components=4, epochs=3, verbose=True).fit(synthetic(nodes=140))
    assert [call[:3] for call in calls] == [("training", epoch, 3) for epoch in (1, 2, 3)]
    assert capsys.readouterr() == ("", "")


def test_printed_progress_has_a_line_per_tenth_of_a_stage(capsys):
    progress = PrintProgress("DGI")
    for done in range(1, 1001):
        progress("training", done, 1000, note=f", loss {done}")
    progress("embedding", 1, 1)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == 12
    assert lines[0] == "DGI: training 1 of 1,000, loss 1"
    assert lines[-2:] == ["DGI: training 1,000 of 1,000, loss 1000", "DGI: embedding 1 of 1"]


def test_printed_progress_of_an_empty_stage_is_not_an_error(capsys):
    PrintProgress("DGI")("training", 0, 0)
    assert capsys.readouterr().err == "DGI: training 0 of 0\n"
