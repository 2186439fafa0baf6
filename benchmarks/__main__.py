"""Run benchmarks and print one table: ``python -m benchmarks [NAME ...]``."""

from __future__ import annotations

import importlib
import sys

NAMES = (
    "reading",
    "generating",
    "views",
    "training",
    "contrast",
    "attention",
    "autoencoders",
    "diffusion",
    "probing",
    "walks",
    "half_precision",
    "forecasting",
)
SLOW = ("scale", "large_scale", "processes")  # only if they are named


def main(names: list[str]) -> None:
    unknown = sorted(set(names) - set(NAMES) - set(SLOW))
    if unknown:
        sys.exit(f"a benchmark must be one of {', '.join(NAMES + SLOW)}; got {', '.join(unknown)}")
    header = ("what", "seconds", "reference", "ratio", "peak memory")
    print("| " + " | ".join(header) + " |\n" + "|---" * len(header) + "|")
    for name in names or NAMES:
        for row in importlib.import_module(f"benchmarks.{name}").run():
            print("| " + " | ".join(str(row[column]) for column in header) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
