"""A signal stops a training between two steps, and what was trained is kept."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphprox.training.checkpoint import Checkpoints
from graphprox.training.interruption import Interrupted, stop_requests

SIGNALS = [signal.SIGINT, signal.SIGTERM]


def send(number):
    os.kill(os.getpid(), number)


def at(step, *numbers):
    """Send signals to this very process after a step."""

    def listen(taken):
        if taken.step == step:
            for number in numbers:
                send(number)

    return listen


def steps_kept(folder):
    return sorted(int(path.stem.partition("-")[2]) for path in folder.glob("step-*.json"))


@pytest.fixture(autouse=True)
def handlers():
    """Whatever a test does, the handlers are afterwards what they were."""
    before = [signal.getsignal(number) for number in SIGNALS]
    yield before
    assert [signal.getsignal(number) for number in SIGNALS] == before


# -- requests -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", SIGNALS)
def test_a_first_signal_is_noted(number):
    with stop_requests() as requests:
        assert requests.signal is None
        send(number)
        assert requests.signal == number


@pytest.mark.parametrize("first", SIGNALS)
@pytest.mark.parametrize("second", SIGNALS)
def test_a_second_signal_stops_at_once(first, second):
    with stop_requests():
        send(first)
        with pytest.raises(KeyboardInterrupt) as stopped:
            send(second)
    assert not isinstance(stopped.value, Interrupted)


def test_each_block_asks_anew():
    for _ in range(2):
        with stop_requests() as requests:
            send(signal.SIGINT)
            assert requests.signal == signal.SIGINT


def test_what_was_ignored_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stop_requests() as requests:
            send(signal.SIGINT)
            assert requests.signal is None
            send(signal.SIGTERM)
            assert requests.signal == signal.SIGTERM
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_handler_of_somebody_elses_comes_back():
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        with stop_requests():
            send(signal.SIGTERM)
        assert heard == []
        send(signal.SIGTERM)
        assert heard == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_another_thread_leaves_the_handlers_alone(handlers):
    def look():
        with stop_requests() as requests:
            return [signal.getsignal(number) for number in SIGNALS], requests.signal

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(look).result() == (handlers, None)


# -- training -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_training_stops_after_the_step_and_goes_on_as_if_it_had_not(
    outcome, undisturbed, recipe, tmp_path, number, code
):
    with pytest.raises(Interrupted) as stopped:
        outcome(recipe, checkpoints=tmp_path, every=4, on_step=at(6, number))
    assert stopped.value.code == code
    assert str(stopped.value) == "stopped after step 6 of 10: --resume goes on from there"
    assert steps_kept(tmp_path) == [4, 6]
    taken = []
    resumed = outcome(recipe, checkpoints=tmp_path, resume=True, on_step=lambda step: taken.append(step.step))
    assert taken == [7, 8, 9, 10]
    assert resumed == undisturbed(recipe)


def test_a_second_ctrl_c_does_not_wait_for_a_checkpoint(outcome, undisturbed, small, tmp_path):
    with pytest.raises(KeyboardInterrupt) as stopped:
        outcome(small, checkpoints=tmp_path, every=4, on_step=at(6, signal.SIGINT, signal.SIGINT))
    assert not isinstance(stopped.value, Interrupted)
    assert steps_kept(tmp_path) == [4]
    assert outcome(small, checkpoints=tmp_path, resume=True) == undisturbed(small)


def test_a_signal_during_a_checkpoint_stops_after_it(outcome, undisturbed, small, tmp_path, monkeypatch):
    save = Checkpoints.save

    def interrupted_save(self, checkpoint):
        if checkpoint.step == 4:
            send(signal.SIGTERM)
        save(self, checkpoint)

    monkeypatch.setattr(Checkpoints, "save", interrupted_save)
    with pytest.raises(Interrupted, match="after step 4 of 10"):
        outcome(small, checkpoints=tmp_path, every=4)
    assert steps_kept(tmp_path) == [4]
    assert outcome(small, checkpoints=tmp_path, resume=True) == undisturbed(small)


def test_a_second_ctrl_c_during_a_checkpoint_leaves_none_of_it(outcome, undisturbed, small, tmp_path, monkeypatch):
    real = os.fsync

    def interrupted_fsync(descriptor):
        if any(tmp_path.glob(".step-00000004*")):
            send(signal.SIGINT)
        real(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", interrupted_fsync)
        with pytest.raises(KeyboardInterrupt):
            outcome(small, checkpoints=tmp_path, every=2)
    assert {path.name for path in tmp_path.iterdir()} == {"step-00000002.json", "step-00000002.safetensors"}
    assert outcome(small, checkpoints=tmp_path, resume=True) == undisturbed(small)


def test_a_signal_in_the_last_step_does_not_keep_a_training_from_its_end(outcome, undisturbed, small, tmp_path):
    assert outcome(small, checkpoints=tmp_path, on_step=at(10, signal.SIGTERM)) == undisturbed(small)


def test_without_a_place_for_checkpoints_ctrl_c_stops_at_once(outcome, small):
    with pytest.raises(KeyboardInterrupt) as stopped:
        outcome(small, on_step=at(3, signal.SIGINT))
    assert not isinstance(stopped.value, Interrupted)


def test_an_error_in_training_gives_the_handlers_back(outcome, small, tmp_path):
    def fail(step):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):  # the fixture looks at the handlers
        outcome(small, checkpoints=tmp_path, on_step=fail)


def test_another_thread_can_train_and_keep_checkpoints(outcome, undisturbed, small, tmp_path):
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(outcome, small, checkpoints=tmp_path, every=3).result() == undisturbed(small)
    assert steps_kept(tmp_path) == [9, 10]
