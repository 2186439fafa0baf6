"""Stopping between two steps when the user or the system asks for it, so that what was trained can be kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """Training was stopped by a signal, and can be continued; ``code`` is what a program then exits with."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Requests:
    """Whether a signal has asked to stop, and which."""

    signal: int | None = None

    def note(self, number: int, _: FrameType | None) -> None:
        """Remember a first signal; a second one stops at once."""
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number


@contextmanager
def stop_requests() -> Iterator[Requests]:
    """Collect Ctrl-C and SIGTERM in place of being stopped by them; only the main thread can.

    A signal that is ignored, as Ctrl-C is by a background job of a shell, stays so.
    """
    requests = Requests()
    if threading.current_thread() is not threading.main_thread():
        yield requests
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    replaced = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for number in replaced:
        signal.signal(number, requests.note)
    try:
        yield requests
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)
