"""Parquet that is read in blocks of rows: a file, or a folder of parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from graphprox._utils.column_names import is_unnamed
from graphprox.errors import ReadError
from graphprox.io.sharding.table_stream import TableStream, cut_rows
from graphprox.io.storage.files import check_readable, ending, reason
from graphprox.io.tables.column_choice import Columns
from graphprox.io.tables.parquet import cast_columns, decode, move_index, range_index
from graphprox.io.tables.parquet_sizes import check_parquet_sizes
from graphprox.io.tables.table import PARQUET_ENDINGS, SAMPLED_ROWS, Choose, Table, check_ids_present, to_cells

_BUFFER = 2**20  # bytes of each column that are read at once
_BATCH = 2**16  # rows


def list_parts(folder: Path) -> list[Path]:
    """List the Parquet files of a folder, in the order of their names.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of Path

    Raises
    ------
    ReadError
        If there is none.
    """
    # Names that begin with a dot or an underscore are those of notes of other programs, such as _SUCCESS.
    found = sorted(path for path in folder.iterdir() if ending(path) in PARQUET_ENDINGS and path.name[0] not in "._")
    if not found:
        raise ReadError(f"a folder of a table must contain Parquet files; {folder} has none: name a file inside it")
    return found


class ParquetStream(TableStream):
    """A Parquet file, or several with the same columns.

    Parameters
    ----------
    path : Path
        The file, or the folder of the files.
    files : list of Path
    ids, choose, features
        As for `read_table`.
    """

    is_typed = True
    mode = "typed"

    def __init__(self, path: Path, files: list[Path], *, ids: int, choose: Choose, features: bool) -> None:
        self.path, self._files, self._ids, self._features = path, files, ids, features
        for file in files:
            check_parquet_sizes(check_readable(file), in_memory=False)
        with _wrap_errors(files[0]):
            head = _read_head(files[0])
        moved = move_index(head, ids)
        if moved.num_columns < ids:
            raise ReadError(
                f"{path} must have at least {ids} column{'s' * (ids > 1)} of ids; it has {moved.num_columns}"
            )
        names = tuple(moved.column_names)
        if len(set(names)) < len(names):
            raise ReadError(f"columns of {path} must have different names; {_find_repeated(names)!r} is one of several")
        rows = [*zip(*(to_cells(decode(path, column)) for column in moved.columns), strict=True)]
        lost_index = any(map(is_unnamed, head.column_names)) and not any(map(is_unnamed, names))
        self._positions = choose(Columns(path, names, len(names), rows, has_index=lost_index)).positions
        self._chosen = [names[i] for i in self._positions]
        # An index of row numbers, which pandas does not store.
        self._numbers = next((name for name in self._chosen if name not in head.column_names), None)
        self.is_integer = True
        for file in files:
            self._check_types(file)
        _, self.names = cast_columns(path, moved.select(self._chosen), ids=ids, values=None, features=features)

    def _check_types(self, file: Path) -> None:
        """Check that a file has the columns, and find out whether its ids are integers."""
        with _wrap_errors(file):
            schema = pa.parquet.read_schema(file)
        missing = next((name for name in self._chosen if name not in (*schema.names, self._numbers)), None)
        if missing is not None:
            raise ReadError(f"every part of {self.path} must have the same columns; {file.name} has no {missing!r}")
        ids = [name for name in self._chosen[: self._ids] if name != self._numbers]
        columns, _ = cast_columns(file, schema.empty_table().select(ids), ids=len(ids), values=None)
        self.is_integer &= all(pa.types.is_integer(column.type) for column in columns)

    @property
    def files(self) -> list[Path]:
        """The files that are read."""
        return self._files

    @property
    def num_rows(self) -> int:
        """Number of rows of all files."""
        return sum(pa.parquet.read_metadata(file).num_rows for file in self._files)

    @property
    def num_columns(self) -> int:
        """Number of the chosen columns."""
        return len(self.names or ())

    def adapt(self, mode: str) -> None:
        """Do nothing: types are stored."""

    def take_ids_as_text(self) -> bool:
        """Return False: types are stored."""
        return False

    def reset_ids(self) -> None:
        """Do nothing: types are stored."""

    def blocks(self, num_rows: int, *, values: pa.DataType | None, skip: int = 0) -> Iterator[Table]:
        """Iterate over blocks of rows."""
        start = skip
        for table in self._cut(skip, num_rows):
            columns, names = cast_columns(
                self.path, table, ids=self._ids, values=values, features=self._features, first_row=start
            )
            if names != self.names:  # a list of vectors has another length
                raise ReadError(f"all vectors must have the same length; {self.path} has others after row {start + 1}")
            if not self.is_integer:
                columns = (*(column.cast(pa.string()) for column in columns[: self._ids]), *columns[self._ids :])
            positions = self._positions if len(self._positions) == len(columns) else None
            found = Table(self.path, columns, names, positions=positions, first_row=start)
            check_ids_present(found, self._ids)
            yield found
            start += table.num_rows

    def _cut(self, skip: int, num_rows: int) -> Iterator[pa.Table]:
        try:
            yield from cut_rows(self._batches(skip), num_rows)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise ReadError(
                f"every part of {self.path} must have columns of the same types; they differ: {reason(error)}"
            ) from None

    def _batches(self, skip: int) -> Iterator[pa.Table]:
        """Yield rows of the chosen columns, whole groups of rows being skipped without reading them."""
        stored = [name for name in self._chosen if name != self._numbers]
        for path in self._files:
            with _wrap_errors(path), pa.parquet.ParquetFile(path, buffer_size=_BUFFER) as file:
                row = 0
                for group in range(file.num_row_groups):
                    size = file.metadata.row_group(group).num_rows
                    if skip >= size:
                        skip, row = skip - size, row + size
                        continue
                    for batch in file.iter_batches(_BATCH, row_groups=[group], columns=stored):
                        table = self._add_numbers(pa.Table.from_batches([batch]), file.schema_arrow, row)
                        row += batch.num_rows
                        dropped, skip = min(skip, batch.num_rows), max(skip - batch.num_rows, 0)
                        yield table.slice(dropped)

    def _add_numbers(self, table: pa.Table, schema: pa.Schema, row: int) -> pa.Table:
        table = table.replace_schema_metadata(schema.metadata)
        if self._numbers is not None:
            start, step = range_index(schema) or (0, 1)
            numbers = start + step * np.arange(row, row + table.num_rows)
            table = table.append_column(self._numbers, pa.array(numbers))
        return self._unify_ids(table.select(self._chosen))

    def _unify_ids(self, table: pa.Table) -> pa.Table:
        """Return a table whose ids have the type of those of all files."""
        if len(self._files) == 1:
            return table
        ids, _ = cast_columns(self.path, table.select(self._chosen[: self._ids]), ids=self._ids, values=None)
        for i, column in enumerate(ids):
            table = table.set_column(i, self._chosen[i], column if self.is_integer else column.cast(pa.string()))
        return table


def _read_head(path: Path) -> pa.Table:
    """Read the first rows of a file."""
    with pa.parquet.ParquetFile(path, buffer_size=_BUFFER) as file:
        first = next(file.iter_batches(SAMPLED_ROWS), None)
        table = file.schema_arrow.empty_table() if first is None else pa.Table.from_batches([first])
        _ = table.column_names  # which raises an error if a name is not valid text
        return table.replace_schema_metadata(file.schema_arrow.metadata)


@contextmanager
def _wrap_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise ReadError(f"{path} must be a valid Parquet file, as its name indicates: {reason(error)}") from None


def _find_repeated(names: Sequence[str]) -> str:
    return next(name for i, name in enumerate(names) if name in names[:i])
