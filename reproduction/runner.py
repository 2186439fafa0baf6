"""Run trials that have no record yet, several at a time."""

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
from graphprox.io.storage.files import make_writable_folder
from reproduction.experiment import Trial
from reproduction.records import Record, append_record, read_current, sort_records
from reproduction.sharing import group_trials

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class RunResult:
    """The result of a trial, or of all trials of a data set that is not available.

    Parameters
    ----------
    trial : Trial
    record : Record or None
        None if the data set is not available.
    error : str, optional
        Why it is not.
    not_run : int, default=0
        Number of trials that were not run because of it.
    """

    trial: Trial
    record: Record | None
    error: str | None = None
    not_run: int = 0


def find_pending(trials: Iterable[Trial], folder: Path) -> list[Trial]:
    """List the trials that have no record, or a record of other settings."""
    trials = list(trials)
    done = {(trial.experiment.name, trial.key) for trial, _ in read_current(folder, trials)}
    return [trial for trial in trials if (trial.experiment.name, trial.key) not in done]


def run_trials(
    trials: list[Trial], folder: Path | None, *, data: Path | None = None, jobs: int = 1
) -> Iterator[RunResult]:
    """Run trials, and append each record as soon as it is measured.

    Trials of the same embedding are measured together after one training run. If the process is killed, only the
    trials being measured are lost: the others are no longer pending. A data set that is not available is a result;
    any other error ends the run, after the trials being measured.

    Parameters
    ----------
    trials : list of Trial
    folder : Path or None
        Folder of records; they are not saved if None.
    data : Path, optional
        Folder of data sets; without it they are downloaded.
    jobs : int, default=1
        Number of processes.

    Yields
    ------
    RunResult
        In the order in which trials end.
    """
    if folder is not None:
        make_writable_folder(folder)
    for result in _results(trials, data, jobs):
        if folder is not None and result.record is not None:
            append_record(folder, result.trial.experiment.name, result.record)
        yield result
    if folder is not None:
        for experiment in dict.fromkeys(trial.experiment.name for trial in trials):
            sort_records(folder, experiment)


def _results(trials: list[Trial], data: Path | None, jobs: int) -> Iterator[RunResult]:
    unavailable: set[str] = set()
    waiting, running = list(reversed(group_trials(trials))), dict[Future[list[Record]], list[Trial]]()
    with _workers(jobs, len(waiting)) as submit:
        while waiting or running:
            while waiting and len(running) < jobs:
                group = waiting.pop()
                if group[0].dataset not in unavailable:
                    running[submit(group, data)] = group
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                group = running.pop(future)
                try:
                    records = future.result()
                except DatasetError as error:
                    dataset = group[0].dataset
                    if dataset not in unavailable:  # another process may have reported it
                        unavailable.add(dataset)
                        not_run = sum(trial.dataset == dataset for trial in trials)
                        yield RunResult(group[0], None, error=str(error), not_run=not_run)
                    continue
                yield from map(RunResult, group, records)


def default_jobs(trials: int) -> int:
    """Return the number of processes to use: one per core, as most epochs are too short to gain from threads."""
    return max(1, min(trials, _count_cores()))


def _count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _workers(jobs: int, groups: int) -> Iterator[Callable[[list[Trial], Path | None], Future[list[Record]]]]:
    """Start processes that measure, each with one thread, so that their costs can be compared.

    They are spawned, because torch does not support forking after its threads have started.
    """
    with _environment(dict.fromkeys(THREAD_VARIABLES, "1")):
        pool = ProcessPoolExecutor(min(jobs, max(1, groups)), mp_context=get_context("spawn"), initializer=_init_worker)
        try:
            yield lambda group, data: pool.submit(_measure, group, data)
        except Exception:
            pool.shutdown(cancel_futures=True)  # waits for the trials being measured
            raise
        except BaseException:  # an interrupt does not wait
            for process in active_children():
                process.terminate()
            raise
        pool.shutdown()


def _init_worker() -> None:
    """Ignore Ctrl-C, which the parent handles, and exit when the parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)


def _measure(group: list[Trial], data: Path | None) -> list[Record]:
    from reproduction.measuring import measure  # imports torch, which only workers need

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
