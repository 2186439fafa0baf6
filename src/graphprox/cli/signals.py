"""Ctrl-C and SIGTERM at any moment: one line on stderr and the usual exit code, also while modules are imported.

This module imports nothing that takes time, so that it is in place before anything that does.
"""

from __future__ import annotations

import _thread
import atexit
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

INTERRUPTED = 130  # exit code of a program that Ctrl-C has stopped
AGAIN = 0.01  # seconds until an interruption that was lost is raised again

_received: list[int] = []  # stop signals, in the order in which they arrived


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """End the program with one line if it receives Ctrl-C or SIGTERM inside the block.

    Both raise a `KeyboardInterrupt`, so that files are cleaned up. One that Python cannot raise, as it arrives in a
    destructor or a callback of a library, is raised again afterwards. A signal that is ignored, as Ctrl-C is by a
    background job of a shell, stays ignored; outside of the main thread nothing is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _received.clear()
    defaults = (signal.default_int_handler, signal.SIG_DFL)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    replaced = {number: handler for number, handler in before.items() if handler in defaults}
    hook = sys.unraisablehook
    for number in replaced:
        signal.signal(number, _stop)
    sys.unraisablehook = _raise_again
    try:
        yield
    except KeyboardInterrupt:
        print(f"error: {describe_stop()}", file=sys.stderr)
        sys.exit(stop_code())
    finally:
        sys.unraisablehook = hook
        for number, handler in replaced.items():
            signal.signal(number, handler)
        if signal.SIGINT in replaced:  # the work is done or stopped: what remains is the end of the process
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def is_stopped() -> bool:
    """Return whether a stop signal was received: whatever is raised afterwards is a consequence."""
    return bool(_received)


def stop_code() -> int:
    """Return the exit code of a program that was stopped: 130 after Ctrl-C, 143 after SIGTERM."""
    return 128 + _received[0] if _received else INTERRUPTED


def describe_stop() -> str:
    """Return what a program that was stopped prints."""
    return "terminated" if stop_code() != INTERRUPTED else "interrupted"


def _stop(number: int, _: FrameType | None) -> None:
    _received.append(number)
    raise KeyboardInterrupt


def _raise_again(unraisable: Any) -> None:
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        again = threading.Timer(AGAIN, _thread.interrupt_main)  # not before this function has returned
        again.daemon = True
        again.start()
    elif not is_stopped():
        sys.__unraisablehook__(unraisable)
