"""Tables and queries with cells of any kind give a graph or a GraphproxError."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fuzz.damage import attempt
from fuzz.examples import DATABASES, NUMBERED, check_sound, to_csv
from graphprox import Graph, read_graph, read_sql
from graphprox.preprocessing import Preprocessor
from graphprox.preprocessing.columns import KINDS

COLUMNS = {
    "numbers": [
        "1",
        "2.5",
        "-3e5",
        "1e308",
        "1.7e308",
        "-1e308",
        "1e-320",
        "1e999",
        "nan",
        "inf",
        "0x10",
        "1_000",
        "٣",
    ],
    "dates": ["2024-01-05", "1.2.2023", "2024-02-30", "0000-00-00", "9999-12-31", "2024-01-05T25:00", "31/12/1999"],
    "answers": ["yes", "no", "Yes", "TRUE", "f", "0", "1", "maybe"],
    "words": ["Rome", "Paris", " Rome ", "", "N/A", "\0", "é", '"', "a,b", "a\nb", "x" * 300, "\u202e", "#", "=1+1"],
}
CELLS = ["", "NA", "null", *COLUMNS["numbers"][:2], *COLUMNS["words"][:2], "2024-01-05"]
VALUES = [
    *(
        "1",
        "-1",
        "2.5",
        "NULL",
        "'x'",
        "''",
        "true",
        "[1]",
        "{'a': 1}",
        "MAP {'a': 1}",
        "'nan'::FLOAT",
        "'inf'::DOUBLE",
    ),
    *("1e308", "DATE '2024-01-05'", "DATE 'infinity'", "TIMESTAMP '-infinity'", "TIMESTAMPTZ '2024-01-05'", "uuid()"),
    *(
        "INTERVAL 1 DAY",
        "TIME '10:00'",
        "'x'::BLOB",
        "'101'::BIT",
        "18446744073709551615::UBIGINT",
        "1::HUGEINT << 100",
    ),
    *(
        "1.5::DECIMAL(38, 37)",
        "'a'::ENUM ('a', 'b')",
        "error('a\nb')",
        "?",
        "nope",
        "(SELECT",
        "'\ud800'",
        "'\0'",
        "1; --",
    ),
]
NAMES = ["id", "source", "target", "weight", "label", "f", '""', '"a b"', "id", "é"]
COUNTS = pytest.mark.parametrize("count", [150, pytest.param(3000, marks=pytest.mark.slow)])


def make_table(rng):
    """Make a table whose columns contain mostly cells of one kind."""
    rows = int(rng.integers(1, 12))
    table = {"id": range(rows)}
    for number in range(rng.integers(1, 4)):
        pool = COLUMNS[rng.choice(list(COLUMNS))]
        few = list(rng.choice(pool, rng.integers(1, len(pool) + 1)))
        others = CELLS if rng.random() < 0.3 else few
        table[f"f{number}"] = [rng.choice(few if rng.random() < 0.9 else others) for _ in range(rows)]
    return pd.DataFrame(table)


@COUNTS
def test_a_table_may_have_any_cells(tmp_path, count):
    edges = tmp_path / "edges.csv"
    edges.write_bytes(to_csv(NUMBERED))
    read = 0
    for case in range(count):
        table = make_table(np.random.default_rng(case))
        path = Path(tmp_path, "x.parquet" if case % 4 == 0 else "x.csv")
        table.to_parquet(path) if case % 4 == 0 else path.write_bytes(to_csv(table))
        role = "labels" if case % 5 == 0 else "features"
        found = attempt(lambda path, role: read_graph(edges, **{role: path}), path, role)
        check_sound(found)
        read += not isinstance(found, Exception)
    assert read > count / 10


@COUNTS
def test_a_column_with_any_cells_may_be_of_any_kind(tmp_path, count):
    edges = tmp_path / "edges.csv"
    edges.write_bytes(to_csv(NUMBERED))
    read = 0
    for case in range(count):
        rng = np.random.default_rng(case)
        table = make_table(rng)
        path = Path(tmp_path, "x.parquet" if case % 4 == 0 else "x.csv")
        table.to_parquet(path) if case % 4 == 0 else path.write_bytes(to_csv(table))
        kinds = {name: str(rng.choice([*KINDS, "ignored"])) for name in table.columns[1:] if rng.random() < 0.8}
        found = attempt(lambda path, kinds: read_graph(edges, features=path, kinds=kinds), path, kinds)
        check_sound(found)
        if isinstance(found, Graph):
            read += 1
            again = attempt(lambda graph: Preprocessor.fit(graph).transform(graph), found)
            check_sound(again)
    assert read > count / 20


def make_query(rng):
    names = rng.choice(NAMES, rng.integers(1, 5))
    rows = [", ".join(f"{VALUES[rng.integers(len(VALUES))]} AS {name}" for name in names) for _ in range(2)]
    return " UNION ALL ".join(f"SELECT {row}" for row in rows[: rng.integers(1, 3)])


@COUNTS
def test_a_query_may_be_anything(tmp_path, count):
    for name, content in DATABASES.items():
        (tmp_path / name).write_bytes(content)
    edges = "SELECT * FROM (VALUES (1, 2), (2, 3)) AS follows(source, target)"
    for case in range(count):
        rng = np.random.default_rng(case)
        query, role = make_query(rng), rng.choice(["edges", "features", "labels"])
        queries = {"edges": edges, role: query}
        database = rng.choice([None, *(tmp_path / name for name in DATABASES)]) if case % 5 == 0 else None
        check_sound(attempt(lambda queries, database: read_sql(**queries, database=database), queries, database))
