"""Open tables that are read in blocks of rows."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from graphprox.io.sharding.parquet_stream import ParquetStream, list_parts
from graphprox.io.sharding.table_stream import TableStream
from graphprox.io.sharding.text_stream import TextStream
from graphprox.io.storage.files import check_readable, ending
from graphprox.io.tables.table import PARQUET_ENDINGS, Choose


def open_table(
    path: Path,
    *,
    ids: int,
    choose: Choose,
    header: bool | None = None,
    named: Collection[str] = (),
    features: bool = False,
) -> TableStream:
    """Open a table, and choose its columns by its first rows.

    Parameters
    ----------
    path : Path
        A file of text or Parquet, or a folder of Parquet files.
    ids, choose, header, named, features
        As for `read_table`.

    Returns
    -------
    TableStream
    """
    if path.is_dir():
        return ParquetStream(path, list_parts(path), ids=ids, choose=choose, features=features)
    check_readable(path)
    if ending(path) in PARQUET_ENDINGS:
        return ParquetStream(path, [path], ids=ids, choose=choose, features=features)
    return TextStream(path, ids=ids, choose=choose, header=header, named=named)
