"""Text in which nothing is quoted: word2vec's vectors, and the ids beside TensorBoard's projector.

A quote or a # in an id is a letter here, so that neither can be read as the tables are that `layout` tells of.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from graphprox.errors import ReadError
from graphprox.io.files import is_gzipped, readable, reason
from graphprox.io.layout import WHOLE_NUMBER, opened_text

_HEADER = re.compile(rb"\s*([1-9]\d{0,17})\s+([1-9]\d{0,17})\s*")
_BLOCK_BYTES = 1 << 20


def read_word2vec(path: Path) -> tuple[pa.Array, list[pa.Array]]:
    """The ids, int64 or strings, and a float64 column per dimension."""
    nodes, dimensions, ends_in_space = _announced(path)
    names = ["id", *(str(i) for i in range(dimensions))]
    types = {name: pa.string() if name == "id" else pa.float64() for name in names}
    if ends_in_space:  # as in what word2vec itself writes; nothing may stand behind the last space
        names.append("")
        types[""] = pa.null()
    table = _parsed(path, names, types, dimensions)
    if table.num_rows != nodes:
        raise ReadError(f"{path} must hold {nodes} nodes, as its first line says; it holds {table.num_rows}")
    ids, *columns = (table.column(i).combine_chunks() for i in range(dimensions + 1))
    return _numbers_or_strings(path, ids), columns


def _announced(path: Path) -> tuple[int, int, bool]:
    """The nodes and dimensions that the first line tells of, and whether rows end in a space, as the next tells."""
    with opened_text(path) as file:
        first, row = file.readline(), next((line for line in file if line.strip()), b"")
    found = _HEADER.fullmatch(first)
    if found is None:
        raise ReadError(
            f"{path} must begin with the numbers of nodes and dimensions, as word2vec's text does; "
            f"it begins with {first[:60].decode(errors='replace').rstrip()!r}: name a table .csv"
        )
    nodes, dimensions = int(found[1]), int(found[2])
    cells = row.rstrip(b"\r\n").split(b" ")
    ends_in_space = not cells[-1]
    if len(cells) - ends_in_space != dimensions + 1:
        shown = row[:60].decode(errors="replace").rstrip("\r\n")
        raise ReadError(f"{_rule(path, dimensions)}; the first has {len(cells) - ends_in_space} cells: {shown!r}")
    return nodes, dimensions, ends_in_space


def _rule(path: Path, dimensions: int) -> str:
    return f"every row of {path} must hold an id and {dimensions} numbers, one space between, as its first line says"


def _parsed(path: Path, names: list[str], types: dict[str, pa.DataType], dimensions: int) -> pa.Table:
    with suppress(pa.ArrowInvalid):
        return _parse(path, names, types, use_threads=True)
    try:  # a parser with one thread says in which row it stopped
        return _parse(path, names, types, use_threads=False)
    except pa.ArrowInvalid as error:
        raise ReadError(f"{_rule(path, dimensions)}: {reason(error)}") from None


def _parse(path: Path, names: list[str], types: dict[str, pa.DataType], *, use_threads: bool) -> pa.Table:
    with opened_text(path) as file:
        return pa.csv.read_csv(
            file,
            pa.csv.ReadOptions(
                use_threads=use_threads,
                block_size=_BLOCK_BYTES * (1 + len(names) // 1000),
                skip_rows=1,
                column_names=names,
            ),
            pa.csv.ParseOptions(delimiter=" ", quote_char=False),
            # Only an empty cell is empty: NA may be an id, and is no number.
            pa.csv.ConvertOptions(column_types=types, null_values=[""]),
        )


def read_projector_ids(path: Path, *, rows: int) -> pa.Array:
    """The ids, int64 or strings, from the first column of the ``NAME.metadata.tsv`` beside a file of vectors."""
    compressed = is_gzipped(path)
    name = Path(path.stem).stem if compressed else path.stem
    beside = path.with_name(f"{name}.metadata.tsv{'.gz' * compressed}")
    if not beside.exists():
        raise ReadError(
            f"the ids of {path} must stand beside it in {beside.name}, as TensorBoard's projector has it; "
            "there is no such file: name a table that holds its ids .csv"
        )
    lines = _lines(readable(beside))
    if lines and "\t" in lines[0]:  # several columns have a header, a single one has none
        lines = [line.partition("\t")[0] for line in lines[1:]]
    if len(lines) != rows:
        raise ReadError(f"{beside} must name each of the {rows} rows of {path.name}; it has {len(lines)}")
    return _numbers_or_strings(beside, pa.array(lines))


def _lines(path: Path) -> list[str]:
    with opened_text(path) as file:
        data = file.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(f"{path} must be text in UTF-8, as its name says: {reason(error)}") from None
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def _numbers_or_strings(path: Path, ids: pa.Array) -> pa.Array:
    """Ids as int64 if all of them are whole numbers, which must fit; else as the strings that they are."""
    at = pc.index(pc.equal(pc.fill_null(ids, ""), ""), True).as_py()
    if at >= 0:
        raise ReadError(f"every node must have an id; node {at} of {path} has an empty one")
    if not pc.all(pc.match_substring_regex(ids, f"^({WHOLE_NUMBER})$")).as_py():
        return ids
    try:
        return ids.cast(pa.int64())
    except pa.ArrowInvalid:
        longest = max(ids.to_pylist(), key=len)
        raise ReadError(
            f"ids that are whole numbers must lie below 2^63; {path} has {longest}: put a letter before each id"
        ) from None
