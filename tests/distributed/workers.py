"""Processes that run functions together, over gloo; they are started once for all tests, as that takes seconds."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
from torch.distributed import PrefixStore, TCPStore

from graphprox.distributed.launch import Launch
from graphprox.distributed.processes import join_processes

TIMEOUT = 60.0  # seconds that an operation may take on a busy machine


class WorkerError(Exception):
    """A function has failed in a process; the message is its traceback."""


class Workers:
    """Processes that wait for functions to run."""

    def __init__(self) -> None:
        timeout = timedelta(seconds=TIMEOUT)
        self.store = TCPStore("localhost", 0, is_master=True, wait_for_workers=False, timeout=timeout)
        self.tasks = 0
        self.pipes, self.processes = [], []

    def start(self, count: int) -> None:
        """Start processes until there are so many."""
        context = multiprocessing.get_context("spawn")
        while len(self.processes) < count:
            mine, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, self.store.port), daemon=True)
            process.start()
            theirs.close()
            self.pipes.append(mine)
            self.processes.append(process)

    def run(self, size: int, function: Callable[..., Any], *arguments: Any, timeout: float = TIMEOUT) -> list[Any]:
        """Call ``function(processes, *arguments)`` in each of some processes, and return the results by rank.

        What a function raises is returned as the exception, with its type.
        """
        self.start(size)
        self.tasks += 1
        for rank in range(size):
            launch = Launch(rank, size, timeout=timeout)
            self.pipes[rank].send((self.tasks, launch, function, arguments))
        return [self.pipes[rank].recv() for rank in range(size)]

    def __call__(self, size: int, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Run a function that must not fail."""
        results = self.run(size, function, *arguments)
        for result in results:
            if isinstance(result, BaseException):
                raise WorkerError("".join(getattr(result, "__notes__", [repr(result)])))
        return results

    def stop(self) -> None:
        for pipe, process in zip(self.pipes, self.processes, strict=True):
            pipe.close()
            process.join(10)
            process.kill()


def _work(pipe: Any, port: int) -> None:
    torch.set_num_threads(1)
    store = TCPStore("localhost", port, is_master=False, timeout=timedelta(seconds=TIMEOUT))
    while True:
        try:
            task, launch, function, arguments = pipe.recv()
        except EOFError:
            return
        try:
            with join_processes(launch, store=PrefixStore(f"task {task}", store)) as processes:
                result = function(processes, *arguments)
        except Exception as error:
            error.add_note(traceback.format_exc())
            result = error
        pipe.send(result)
