"""The command line: parse, call the library, print."""

from graphprox.cli.app import main

__all__ = ["main"]
