"""Read many damaged files in a process of its own, as a library could end the process.

The arguments are FIRST COUNT LOG NAME... The log has the case that is being read, and after
it what is wrong with it, if anything is; nothing is printed.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.damage import attempt, damage
from fuzz.examples import FILES, check_sound, read_example
from graphprox._utils.memory import peak_memory

MAX_MEMORY = 2**30  # bytes


def run(first, count, log, names):
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", UserWarning)  # which numpy and networkx give about odd files
    for name in names:
        for case in range(first, first + count):
            log.write(f"case {name} {case}\n")
            log.flush()
            with TemporaryDirectory() as folder:
                try:
                    check_sound(attempt(read_example, name, damage(FILES[name], case), folder))
                except Exception:
                    log.write(f"FAILED {traceback.format_exc()}\n")
    # Not that of getrusage, which begins with the memory of the process that started this one.
    if (peak_memory() or 0) > MAX_MEMORY:
        log.write("FAILED memory\n")
    log.write("finished\n")


def main():
    with Path(sys.argv[3]).open("w", encoding="utf-8") as log:
        run(int(sys.argv[1]), int(sys.argv[2]), log, sys.argv[4:])
