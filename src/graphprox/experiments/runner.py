"""The runner: measures the trials that have no record yet, several at a time, and keeps each record as it comes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from threading import Thread

from graphprox.errors import DatasetError
from graphprox.experiments.records import Record, read_record
from graphprox.experiments.sharing import grouped
from graphprox.experiments.spec import Trial
from graphprox.io.files import writable_folder

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Outcome:
    """A trial that is done: its record, or why its data set is not at hand."""

    trial: Trial
    record: Record | None
    missing: str | None = None


def pending(trials: Iterable[Trial], results: Path) -> list[Trial]:
    """The trials that have no record, or one that was measured with other settings."""
    return [trial for trial in trials if read_record(results, trial) is None]


def run(trials: list[Trial], results: Path | None, *, data: Path | None = None, jobs: int = 1) -> Iterator[Outcome]:
    """Measure trials, ``jobs`` at a time, and keep each record as soon as it is there; outcomes come as they come.

    Trials of one embedding are measured together, by one training.

    Without a folder for ``results`` none is kept.

    Being killed loses only the trials that were on their way: whoever runs the rest again finds them `pending`. A data
    set that is not at hand is an outcome; any other error ends the run, and what is on its way is still kept.
    """
    if results is not None:
        writable_folder(results)
    missing: set[str] = set()
    waiting, running = list(reversed(grouped(trials))), dict[Future[list[Record]], list[Trial]]()
    with _workers(jobs, len(waiting)) as submit:
        while waiting or running:
            while waiting and len(running) < jobs:
                group = waiting.pop()
                if group[0].dataset not in missing:
                    running[submit(group, data)] = group
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                group = running.pop(future)
                try:
                    records = future.result()
                except DatasetError as error:
                    missing.add(group[0].dataset)
                    yield Outcome(group[0], None, missing=str(error))
                    continue
                for trial, record in zip(group, records, strict=True):
                    if results is not None:
                        record.write(results, trial)
                    yield Outcome(trial, record)


def best_jobs(trials: int) -> int:
    """As many trials at a time as there are cores: most steps are too short for a second core to help with one."""
    return max(1, min(trials, _cores()))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _workers(jobs: int, groups: int) -> Iterator[Callable[[list[Trial], Path | None], Future[list[Record]]]]:
    """Processes that measure; they are new ones, as torch does not like forks.

    Each has one thread, however few there are, so that what they cost can be compared.
    """
    with _environment(dict.fromkeys(THREADS, "1")):
        pool = ProcessPoolExecutor(min(jobs, max(1, groups)), mp_context=get_context("spawn"), initializer=_as_worker)
        try:
            yield lambda group, data: pool.submit(_measure, group, data)
        except Exception:
            pool.shutdown(cancel_futures=True)  # what is on its way may still end
            raise
        except BaseException:  # whoever interrupts does not want to wait
            for process in active_children():
                process.terminate()
            raise
        pool.shutdown()


def _as_worker() -> None:
    """Leave Ctrl-C, which reaches every process of a terminal, to the one that keeps records; end when it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)


def _measure(group: list[Trial], data: Path | None) -> list[Record]:
    from graphprox.experiments.measuring import measure  # in the worker: it brings torch

    return [measure(trial, data) for trial in group]


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
