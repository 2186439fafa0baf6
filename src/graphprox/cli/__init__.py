"""The command line: parse, call the library, print."""

import os

from graphprox.cli.signals import stop_on_signals

__all__ = ["main"]


def main() -> None:
    """Run the program.

    Exits with code 2 after a user error, with 1 after an internal error and with 130 after Ctrl-C, with one sentence on
    stderr.
    """
    # Before OpenBLAS is loaded: its threads wait for the next product by keeping their cores busy, 2^26 cycles long by
    # default, in which compiled loops get half of the cores.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "10")
    with stop_on_signals():
        from graphprox.cli.app import main as run  # takes a second, in which Ctrl-C may be pressed, too

        run()
