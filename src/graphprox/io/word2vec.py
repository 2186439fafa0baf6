"""Readers of text without quoting: word2vec vectors, and the ids of TensorBoard's projector.

Quotes and # are ordinary characters of an id here, unlike in the tables that `layout` describes.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from graphprox.errors import ReadError
from graphprox.io.storage.files import check_readable, is_gzipped, reason
from graphprox.io.tables.encodings import open_text
from graphprox.io.tables.layout import INTEGER

_HEADER = re.compile(rb"\s*([1-9]\d{0,17})\s+([1-9]\d{0,17})\s*")
_BLOCK_BYTES = 1 << 20


def read_word2vec(path: Path) -> tuple[pa.Array, list[pa.Array]]:
    """Read vectors in word2vec's text format.

    Parameters
    ----------
    path : Path
        File to read.

    Returns
    -------
    ids : pyarrow.Array of shape (num_nodes,)
        Ids, int64 or str.
    columns : list of pyarrow.Array
        A float64 column per component.
    """
    nodes, n_components, ends_in_space = _read_sizes(path)
    names = ["id", *(str(i) for i in range(n_components))]
    types = {name: pa.string() if name == "id" else pa.float64() for name in names}
    if ends_in_space:  # as written by word2vec itself; nothing may follow the last space
        names.append("")
        types[""] = pa.null()
    table = _parse(path, names, types, n_components)
    if table.num_rows != nodes:
        raise ReadError(f"{path} must contain {nodes} nodes, as its first line states; it contains {table.num_rows}")
    ids, *columns = (table.column(i).combine_chunks() for i in range(n_components + 1))
    return _parse_ids(path, ids), columns


def _read_sizes(path: Path) -> tuple[int, int, bool]:
    """Return the sizes in the first line, and whether the second line ends in a space."""
    with open_text(path) as file:
        first, row = file.readline(), next((line for line in file if line.strip()), b"")
    found = _HEADER.fullmatch(first)
    if found is None:
        raise ReadError(
            f"{path} must begin with the numbers of nodes and components, as in word2vec's text format; "
            f"it begins with {first[:60].decode(errors='replace').rstrip()!r}: name a table .csv"
        )
    nodes, n_components = int(found[1]), int(found[2])
    cells = row.rstrip(b"\r\n").split(b" ")
    ends_in_space = not cells[-1]
    if len(cells) - ends_in_space != n_components + 1:
        shown = row[:60].decode(errors="replace").rstrip("\r\n")
        raise ReadError(f"{_rule(path, n_components)}; the first has {len(cells) - ends_in_space} cells: {shown!r}")
    return nodes, n_components, ends_in_space


def _rule(path: Path, n_components: int) -> str:
    return (
        f"every row of {path} must contain an id and {n_components} numbers, one space between, "
        "as its first line states"
    )


def _parse(path: Path, names: list[str], types: dict[str, pa.DataType], n_components: int) -> pa.Table:
    with suppress(pa.ArrowInvalid):
        return _read_csv(path, names, types, use_threads=True)
    try:  # only a single-threaded parser reports the row of an error
        return _read_csv(path, names, types, use_threads=False)
    except pa.ArrowInvalid as error:
        raise ReadError(f"{_rule(path, n_components)}: {reason(error)}") from None


def _read_csv(path: Path, names: list[str], types: dict[str, pa.DataType], *, use_threads: bool) -> pa.Table:
    with open_text(path) as file:
        return pa.csv.read_csv(
            file,
            pa.csv.ReadOptions(
                use_threads=use_threads,
                block_size=_BLOCK_BYTES * (1 + len(names) // 1000),
                skip_rows=1,
                column_names=names,
            ),
            pa.csv.ParseOptions(delimiter=" ", quote_char=False),
            # Only an empty cell is missing: NA may be an id.
            pa.csv.ConvertOptions(column_types=types, null_values=[""]),
        )


def read_projector_ids(path: Path, *, rows: int) -> pa.Array:
    """Read the ids of a projector file from the first column of ``NAME.metadata.tsv`` in the same folder.

    Parameters
    ----------
    path : Path
        File of the vectors.
    rows : int
        Number of vectors.

    Returns
    -------
    pyarrow.Array of shape (rows,)
        Ids, int64 or str.
    """
    compressed = is_gzipped(path)
    name = Path(path.stem).stem if compressed else path.stem
    metadata = path.with_name(f"{name}.metadata.tsv{'.gz' * compressed}")
    if not metadata.exists():
        raise ReadError(
            f"the ids of {path} must be in {metadata.name} in the same folder, as for TensorBoard's projector; "
            "there is no such file: use .csv for a table with ids"
        )
    lines = _read_lines(check_readable(metadata))
    if lines and "\t" in lines[0]:  # with several columns there is a header
        lines = [line.partition("\t")[0] for line in lines[1:]]
    if len(lines) != rows:
        raise ReadError(f"{metadata} must name each of the {rows} rows of {path.name}; it has {len(lines)}")
    return _parse_ids(metadata, pa.array(lines))


def _read_lines(path: Path) -> list[str]:
    with open_text(path) as file:
        data = file.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(f"{path} must be text in UTF-8, as its name indicates: {reason(error)}") from None
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def _parse_ids(path: Path, ids: pa.Array) -> pa.Array:
    """Convert ids to int64 if all of them are integers."""
    at = pc.index(pc.equal(pc.fill_null(ids, ""), ""), True).as_py()
    if at >= 0:
        raise ReadError(f"every node must have an id; node {at} of {path} has an empty one")
    if not pc.all(pc.match_substring_regex(ids, f"^({INTEGER})$")).as_py():
        return ids
    try:
        return ids.cast(pa.int64())
    except pa.ArrowInvalid:
        longest = max(ids.to_pylist(), key=len)
        raise ReadError(f"integer ids must be less than 2^63; {path} has {longest}: add a letter to each id") from None
