"""The command line: parse, call the library, print."""

from graphprox.cli.signals import stop_on_signals

__all__ = ["main"]


def main() -> None:
    """Run the program.

    Exits with code 2 after a user error, with 1 after an internal error and with 130 after Ctrl-C, with one sentence on
    stderr.
    """
    with stop_on_signals():
        from graphprox.cli.app import main as run  # takes a second, in which Ctrl-C may be pressed, too

        run()
