"""Stop signals: training stops between two epochs, and can be resumed."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphprox.ftgcl.checkpoint import Checkpoints
from graphprox.ftgcl.interruption import Interrupted, catch_stop_signals

SIGNALS = [signal.SIGINT, signal.SIGTERM]


def send(number):
    os.kill(os.getpid(), number)


def send_at(epoch, *numbers):
    """Return a callback that sends signals to this process after an epoch."""

    def callback(log):
        if log.epoch == epoch:
            for number in numbers:
                send(number)

    return callback


def saved_epochs(folder):
    return sorted(int(path.stem.partition("-")[2]) for path in folder.glob("epoch-*.json"))


@pytest.fixture(autouse=True)
def handlers():
    """Check after each test that the handlers are those from before."""
    # In the background of a shell, where tests may run, Ctrl-C is ignored.
    original = signal.signal(signal.SIGINT, signal.default_int_handler)
    before = [signal.getsignal(number) for number in SIGNALS]
    try:
        yield before
        assert [signal.getsignal(number) for number in SIGNALS] == before
    finally:
        signal.signal(signal.SIGINT, original)


# -- signals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", SIGNALS)
def test_first_signal_is_recorded(number):
    with catch_stop_signals() as stop_signal:
        assert stop_signal.number is None
        send(number)
        assert stop_signal.number == number


@pytest.mark.parametrize("first", SIGNALS)
@pytest.mark.parametrize("second", SIGNALS)
def test_second_signal_stops_at_once(first, second):
    with catch_stop_signals():
        send(first)
        with pytest.raises(KeyboardInterrupt) as stopped:
            send(second)
    assert not isinstance(stopped.value, Interrupted)


def test_each_block_starts_without_a_signal():
    for _ in range(2):
        with catch_stop_signals() as stop_signal:
            send(signal.SIGINT)
            assert stop_signal.number == signal.SIGINT


def test_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with catch_stop_signals() as stop_signal:
            send(signal.SIGINT)
            assert stop_signal.number is None
            send(signal.SIGTERM)
            assert stop_signal.number == signal.SIGTERM
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_previous_handler_is_restored():
    received = []
    before = signal.signal(signal.SIGTERM, lambda number, _: received.append(number))
    try:
        with catch_stop_signals():
            send(signal.SIGTERM)
        assert received == []
        send(signal.SIGTERM)
        assert received == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_handlers_do_not_change_in_another_thread(handlers):
    def look():
        with catch_stop_signals() as stop_signal:
            return [signal.getsignal(number) for number in SIGNALS], stop_signal.number

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(look).result() == (handlers, None)


# -- training -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_training_stops_after_the_epoch_and_can_be_resumed(run, uninterrupted, recipe, tmp_path, number, code):
    with pytest.raises(Interrupted) as stopped:
        run(recipe, checkpoints=tmp_path, checkpoint_every=4, callbacks=[send_at(6, number)])
    assert stopped.value.code == code
    assert str(stopped.value) == "stopped after epoch 6 of 10: set resume=True to continue from there"
    assert saved_epochs(tmp_path) == [4, 6]
    epochs = []
    resumed = run(recipe, checkpoints=tmp_path, resume=True, callbacks=[lambda log: epochs.append(log.epoch)])
    assert epochs == [7, 8, 9, 10]
    assert resumed == uninterrupted(recipe)


def test_second_signal_does_not_wait_for_a_checkpoint(run, uninterrupted, small, tmp_path):
    with pytest.raises(KeyboardInterrupt) as stopped:
        run(small, checkpoints=tmp_path, checkpoint_every=4, callbacks=[send_at(6, signal.SIGINT, signal.SIGINT)])
    assert not isinstance(stopped.value, Interrupted)
    assert saved_epochs(tmp_path) == [4]
    assert run(small, checkpoints=tmp_path, resume=True) == uninterrupted(small)


def test_signal_while_a_checkpoint_is_written_stops_after_it(run, uninterrupted, small, tmp_path, monkeypatch):
    save = Checkpoints.save

    def interrupted_save(self, checkpoint):
        if checkpoint.epoch == 4:
            send(signal.SIGTERM)
        save(self, checkpoint)

    monkeypatch.setattr(Checkpoints, "save", interrupted_save)
    with pytest.raises(Interrupted, match="after epoch 4 of 10"):
        run(small, checkpoints=tmp_path, checkpoint_every=4)
    assert saved_epochs(tmp_path) == [4]
    assert run(small, checkpoints=tmp_path, resume=True) == uninterrupted(small)


def test_second_signal_while_a_checkpoint_is_written_leaves_no_part_of_it(
    run, uninterrupted, small, tmp_path, monkeypatch
):
    real = os.fsync

    def interrupted_fsync(descriptor):
        if any(tmp_path.glob(".epoch-00000004*")):
            send(signal.SIGINT)
        real(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", interrupted_fsync)
        with pytest.raises(KeyboardInterrupt):
            run(small, checkpoints=tmp_path, checkpoint_every=2)
    assert {path.name for path in tmp_path.iterdir()} == {"epoch-00000002.json", "epoch-00000002.safetensors"}
    assert run(small, checkpoints=tmp_path, resume=True) == uninterrupted(small)


def test_signal_in_the_last_epoch_does_not_interrupt(run, uninterrupted, small, tmp_path):
    assert run(small, checkpoints=tmp_path, callbacks=[send_at(10, signal.SIGTERM)]) == uninterrupted(small)


def test_signal_stops_at_once_without_checkpoints(run, small):
    with pytest.raises(KeyboardInterrupt) as stopped:
        run(small, callbacks=[send_at(3, signal.SIGINT)])
    assert not isinstance(stopped.value, Interrupted)


def test_handlers_are_restored_after_an_error(run, small, tmp_path):
    def fail(log):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):  # the fixture checks the handlers
        run(small, checkpoints=tmp_path, callbacks=[fail])


def test_training_with_checkpoints_works_in_another_thread(run, uninterrupted, small, tmp_path):
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run, small, checkpoints=tmp_path, checkpoint_every=3).result() == uninterrupted(small)
    assert saved_epochs(tmp_path) == [9, 10]
