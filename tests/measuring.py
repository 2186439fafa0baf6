"""Run the program in a forked process, and measure it."""

from __future__ import annotations

import contextlib
import io
import resource
import sys
import time
import warnings


def measure(sender, arguments):
    """Run the program, and send the exit code, the messages, the bytes of memory and the seconds that it took."""
    from graphprox.cli import main

    sys.argv = ["graphprox", *arguments]
    messages, code = io.StringIO(), None
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with contextlib.redirect_stderr(messages), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        try:
            main()
        except SystemExit as stopped:
            code = stopped.code
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    sender.send((code, messages.getvalue(), used * 1024, time.monotonic() - begin))
