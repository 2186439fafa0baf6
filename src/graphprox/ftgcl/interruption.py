"""Stop training between two epochs on Ctrl-C or SIGTERM, so that it can be saved."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """Training was stopped by a signal and can be resumed.

    Attributes
    ----------
    code : int
        Exit code of a program that was stopped in this way.
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class StopSignal:
    """The stop signal that was received, if any."""

    number: int | None = None

    def receive(self, number: int, _: FrameType | None) -> None:
        """Record the first signal; a second one stops at once."""
        if self.number is not None:
            raise KeyboardInterrupt
        self.number = number


@contextmanager
def catch_stop_signals() -> Iterator[StopSignal]:
    """Catch Ctrl-C and SIGTERM inside the block; does nothing outside of the main thread.

    A signal that is ignored, as Ctrl-C is by a background job of a shell, stays ignored.
    """
    received = StopSignal()
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    replaced = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for number in replaced:
        signal.signal(number, received.receive)
    try:
        yield received
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)
