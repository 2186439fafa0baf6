"""Forecasts of time and memory against what was measured, and the fit of their coefficients.

``python -m benchmarks.forecasting fit [METHOD ...]`` measures the graphs of ``FIT``, on one thread and on as many as
there are cores, and writes src/graphprox/forecast/coefficients.toml. Each measurement is written to ``MEASURED`` as
it is made, and not repeated until that file is removed. ``python -m benchmarks forecasting`` compares forecasts with
runs of ``graphprox embed`` on the graphs of ``COMPARED``. No other program may use the cores meanwhile.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

COEFFICIENTS = Path(__file__).parents[1] / "src" / "graphprox" / "forecast" / "coefficients.toml"
MEASURED = Path(tempfile.gettempdir()) / "graphprox-forecasting.jsonl"
VARIABLES = tuple(f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"))
# So many that memory which is kept from one epoch to the next no longer grows.
FEW_EPOCHS = {"epochs": 12}
FIT: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "auto": [
        ("synthetic:nodes=1000", {}),
        ("synthetic:nodes=5000", {}),
        ("synthetic:nodes=20000", {}),
        ("synthetic:nodes=20000,features=200", {"n_components": 64}),
        ("synthetic:nodes=60000", {}),
        ("synthetic:nodes=120000", {"n_components": 128}),
        ("synthetic:nodes=300000", {}),
        ("Cora", {}),
        ("CiteSeer", {}),
        ("PubMed", {}),
        ("CoauthorCS", {}),
        ("ACM", {}),
    ],
    "ft-gcl": [
        ("synthetic:nodes=1000", {"epochs": 20}),
        ("synthetic:nodes=5000", FEW_EPOCHS),
        ("synthetic:nodes=5000", {"epochs": 40, "n_components": 128}),
        ("synthetic:nodes=20000", FEW_EPOCHS),
        ("synthetic:nodes=20000", {"epochs": 40, "n_components": 64}),
        ("synthetic:nodes=20000,features=200", {**FEW_EPOCHS, "n_components": 128}),
        ("synthetic:nodes=60000", FEW_EPOCHS),
        ("synthetic:nodes=120000", {"epochs": 6, "n_components": 128}),
        ("Cora", {"epochs": 20}),
        ("CiteSeer", {"epochs": 20}),
        ("PubMed", FEW_EPOCHS),
        ("CoauthorCS", FEW_EPOCHS),
        ("ACM", FEW_EPOCHS),
    ],
}
MIN_FACTOR = 0.25  # of any part of the work
# Only the largest graphs are searched approximately: searches alone of 10^5 and 3 * 10^5 rows of 100 and 200 columns
# took 24 to 40. An entry of a sparse matrix takes an index and a weight, in two copies. Weights and products of
# channels are small in all of these runs, and count as they are.
MIN_FACTORS = {"search_descent": 24.0, "entries": 4.0, "parameters": 1.0, "contrast": 1.0}
THREADS = sorted({1, os.cpu_count() or 1})
COMPARED = {
    "auto": ["Cora", "PubMed", "CoauthorCS", "synthetic:nodes=50000"],
    "ft-gcl": ["Cora", "PubMed", "CoauthorCS", "synthetic:nodes=50000"],
}
HEADER = """\
# Coefficients of the forecasts, measured by
#
#     GRAPHPROX_DATA=DIR python -m benchmarks.forecasting fit
#
# seconds: factor of each kind of work by the time that this machine takes for as much of it at its best, see
# graphprox.forecast.machine; memory: factor of each number of bytes. "start" does not depend on the graph.
"""


def run() -> Iterator[dict[str, object]]:
    for method, graphs in COMPARED.items():
        for graph in graphs:
            for threads in THREADS:
                yield compare_with_run(method, graph, threads)


def compare_with_run(method: str, graph: str, threads: int) -> dict[str, object]:
    """Compare the forecast of a fresh process with another one that does the work."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["embed", graph, "--method", method, "--out", f"{folder}/emb.npy", "--no-cache", "--json"]
        before, out, _ = _run_program([*arguments, "--dry-run"], threads)
        forecast = json.loads(out)
        after, _, peak = _run_program(arguments, threads)
    seconds, memory = after - before, peak / 2**20
    ratios = forecast["seconds"] / seconds, forecast["peak_memory_mb"] / memory
    return {
        "what": f"{method}, {graph}, {_count(threads)}",
        "seconds": f"{seconds:.1f}",
        "reference": f"forecast: {forecast['seconds']:.1f} s",
        "ratio": f"{ratios[0]:.2f} x the time, {ratios[1]:.2f} x the memory",
        "peak memory": f"{memory:,.0f} MB (forecast: {forecast['peak_memory_mb']:,.0f} MB)",
    }


def _run_program(arguments: list[str], threads: int) -> tuple[float, str, int]:
    """Return seconds, output and peak memory in bytes of the program in a new process."""
    command = [sys.executable, "-m", "graphprox", "--quiet", *arguments]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_limit_threads(threads)) as process:
        out = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"graphprox {' '.join(arguments)} must succeed; it exited with code {process.returncode}")
    return time.perf_counter() - start, out, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _limit_threads(threads: int) -> dict[str, str]:
    """Return the environment of a process that uses a number of threads, as the program uses them."""
    return {**os.environ, **dict.fromkeys(VARIABLES, str(threads)), "OPENBLAS_THREAD_TIMEOUT": "10"}


def _count(threads: int) -> str:
    return f"{threads} thread{'s' * (threads > 1)}"


# -- the fit --------------------------------------------------------------------------------------------------------


def measure_in_process(method: str, graph: str, settings: str) -> None:
    """Print what a method does on a graph, and what it takes, as JSON."""
    from graphprox import load
    from graphprox._utils.memory import current_memory, peak_memory, reset_peak_memory
    from graphprox.forecast import measure_speeds
    from graphprox.methods.factory import make_embedder

    dataset = load(graph)
    unsaved = {"cache": False} if method != "auto" else {}
    estimator = make_embedder(method, dataset=graph, **json.loads(settings), **unsaved)
    speeds = measure_speeds()
    costs = estimator.costs(dataset.graph)
    base = current_memory()
    reset_peak_memory()
    start = time.perf_counter()
    estimator.fit(dataset.graph)
    seconds = time.perf_counter() - start
    work = {name: speeds.seconds(each) for name, each in costs.work.items()}
    print(
        json.dumps(
            {"work": work, "seconds": seconds, "memory": dict(costs.memory), "peak": (peak_memory() or 0) - base}
        )
    )


def measure_all(method: str) -> list[dict[str, Any]]:
    """Measure every graph of the fit in processes of its own, one after the other, unless that has been done before."""
    done = [json.loads(line) for line in MEASURED.read_text().splitlines()] if MEASURED.exists() else []
    measured = {each["name"]: each for each in done}
    for graph, settings in FIT[method]:
        for threads in THREADS:
            name = f"{method}, {graph} {settings}, {_count(threads)}"
            if name in measured:
                continue
            command = [sys.executable, "-m", "benchmarks.forecasting", "measure", method, graph, json.dumps(settings)]
            run = subprocess.run(command, env=_limit_threads(threads), capture_output=True, text=True, check=True)
            measured[name] = {"name": name, **json.loads(run.stdout.splitlines()[-1])}
            with MEASURED.open("a") as file:
                file.write(json.dumps(measured[name]) + "\n")
            print(f"{name}: {measured[name]['seconds']:.1f} s", file=sys.stderr, flush=True)
    return [each for name, each in measured.items() if name.startswith(f"{method}, ")]


def fit_coefficients(rows: list[dict[str, float]], totals: list[float]) -> dict[str, float]:
    """Return factors of the columns, and a constant, that explain the totals with small relative errors.

    No factor is below its bound, see ``MIN_FACTORS``: graphs may say little about a part of the work, but it takes
    time and memory in others.
    """
    names = ["start", *dict.fromkeys(name for row in rows for name in row)]
    matrix = np.array([[1.0 if name == "start" else row.get(name, 0.0) for name in names] for row in rows])
    matrix /= np.array(totals)[:, None]
    size = np.linalg.norm(matrix, axis=0)
    bounds = size * [0.0 if name == "start" else MIN_FACTORS.get(name, MIN_FACTOR) for name in names]
    found = lsq_linear(matrix / size, np.ones(len(rows)), bounds=(bounds, np.inf)).x / size
    return {name: float(value) for name, value in zip(names, found, strict=True)}


def fit(methods: list[str]) -> None:
    """Measure, fit, print the error of each measurement, and write the coefficients; other methods keep theirs."""
    fitted: dict[str, dict[str, dict[str, float]]] = tomllib.loads(COEFFICIENTS.read_text())
    for method in methods:
        fitted[method] = {}
        measured = measure_all(method)
        for title, inputs, total in (("seconds", "work", "seconds"), ("memory", "memory", "peak")):
            rows, totals = [each[inputs] for each in measured], [each[total] for each in measured]
            found = fit_coefficients(rows, totals)
            for each, row, value in zip(measured, rows, totals, strict=True):
                forecast = found["start"] + sum(found[name] * amount for name, amount in row.items())
                print(f"{each['name']}: {title} {value:.4g}, ratio {forecast / value:.2f}")
            fitted[method][title] = found
    tables = [(f"{method}.{title}", fitted[method][title]) for method in FIT for title in ("seconds", "memory")]
    text = "".join(
        f"\n[{name}]\n" + "".join(f"{part} = {value:.4g}\n" for part, value in table.items()) for name, table in tables
    )
    COEFFICIENTS.write_text(HEADER + text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["fit"] and set(sys.argv[2:]) <= set(FIT):
        fit(sys.argv[2:] or list(FIT))
    elif sys.argv[1:2] == ["measure"]:
        measure_in_process(*sys.argv[2:])
    else:
        sys.exit("usage: python -m benchmarks.forecasting fit [METHOD ...]")
