"""Reader of embeddings written by graphprox or other programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from graphprox._utils.arrays import NodeIds
from graphprox._utils.column_names import are_id_names
from graphprox.embedding import Embedding
from graphprox.errors import ParameterError, ReadError
from graphprox.io.embedding_folder.folder_reader import read_embedding_folder
from graphprox.io.ids import to_node_ids
from graphprox.io.npy import open_npz, read_npy, wrap_read_errors
from graphprox.io.sql.queries import run_query
from graphprox.io.sql.sql_writer import DEFAULT_TABLE
from graphprox.io.storage.files import check_readable, ending
from graphprox.io.tables.list_columns import VECTOR, find_vector_column, is_list, stack_lists
from graphprox.io.tables.parquet import decode, read_parquet, read_schema
from graphprox.io.tables.table import MissingIdError, Table, check_numeric, read_table, table_from_arrow
from graphprox.io.word2vec import read_projector_ids, read_word2vec
from graphprox.preprocessing.table_cells import NUMBER

_ARRAY_NAMES = ("vectors", "embedding")
_REMEDY = "correct it, or name an embedding, as graphprox embed writes it"
_COLUMNS_PER_BLOCK = 16  # float32 values of a cache line

Read = tuple[NDArray[Any], NodeIds | None]  # vectors, and the ids if the file has any


def read_embedding(path: str | Path, *, ids: ArrayLike | None = None) -> Embedding:
    r"""Read an embedding in the format selected by the file's ending.

    Parameters
    ----------
    path : str or Path
        File to read; text may be gzipped:

        ======================================  ===========================================================
        ending                                  format
        ======================================  ===========================================================
        ``.parquet``, ``.pq``                   a column of ids and one of lists, or one column per component
        ``.csv``                                an id, then the components, with or without a header
        ``.npy``                                a matrix with a row per node
        ``.npz``                                an array ``vectors``, or a single one, and optionally ``ids``
        ``.txt``, ``.w2v``, ``.vec``, ``.emb``  word2vec text: the sizes, then an id and a vector per line
        ``.tsv``                                TensorBoard's projector, with ids in ``NAME.metadata.tsv``
        ``.duckdb``                             a database with a table ``vectors``
        none                                    a folder that graphprox has written, of Parquet files
        ======================================  ===========================================================
    ids : array-like of shape (num_nodes,), default=None
        Node ids of a file that contains none; its row numbers if None. A table has no ids if its first column
        contains floats.

    Returns
    -------
    Embedding
        Ids are int64 if all of them are integers. Vectors read from text are float32 if no digit is lost, and float64
        otherwise. An ``.npy`` file is memory-mapped: it may be replaced while the embedding is in use, but must not
        be overwritten in place. Vectors of a folder that memory does not hold are in a temporary file, which is
        memory-mapped.

    Raises
    ------
    ReadError
        If the file does not contain an embedding.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "vectors.txt").write_text("2 3\nann 1 2 0\nbob 3 4.5 0\n")
    ...     embedding = read_embedding(Path(folder, "vectors.txt"))
    >>> embedding, embedding.ids.tolist()
    (Embedding(2 nodes, 3 components), ['ann', 'bob'])
    """
    path = Path(path)
    vectors, own = _read_folder(path) if path.is_dir() else _read_file(path)
    if own is None and ids is not None and vectors.ndim == 2 and len(vectors) != np.size(ids):
        raise ReadError(
            f"{path} contains no ids, so it must have a row for each of the {np.size(ids)} given ids; "
            f"it has {len(vectors)}"
        )
    vectors.flags.writeable = False  # not shared, so Embedding need not copy it
    try:
        return Embedding(vectors, ids if own is None else own)
    except ParameterError as error:
        raise ReadError(f"{path} must contain an embedding: {error}") from None


def _read_folder(path: Path) -> Read:
    vectors, ids = read_embedding_folder(path)
    return vectors, _node_ids(ids)


def _read_file(path: Path) -> Read:
    read = _READERS.get(ending(path))
    if read is None:
        raise ReadError(
            f"the ending of an embedding file must be one of {', '.join(_READERS)}, unless it is a folder; got "
            f"{path.name!r}"
        )
    try:
        return read(check_readable(path))
    except MissingIdError as error:
        raise MissingIdError(error.row, ids=1, remedy=_REMEDY) from None


# -- tables ---------------------------------------------------------------------------------------------------------


def _read_parquet(path: Path) -> Read:
    schema = read_schema(path, ids=1)
    vector = find_vector_column(path, schema)
    if vector is not None:
        return _read_lists(path, schema, vector)
    has_ids = _has_ids(schema)
    table = read_table(path, ids=int(has_ids), values=None)
    ids = _node_ids(table.columns[0]) if has_ids else None
    double = any(pa.types.is_float64(column.type) for column in table.columns[has_ids:])
    return _stack(table, _cast_columns(table, first=has_ids, double=double)), ids


def _read_lists(path: Path, schema: pa.Schema, vector: str) -> Read:
    """Read the ids and a column of lists, and nothing else: a vector store keeps other columns beside them."""
    others = [field.name for field in schema if not is_list(field.type)]
    named = [name for name in others if are_id_names([name])] or others
    return _split(path, read_parquet(path, names=[*named[:1], vector]), vector)


def _read_database(path: Path) -> Read:
    table = run_query(f"SELECT id, {VECTOR} FROM {DEFAULT_TABLE}", path)  # noqa: S608 - names of graphprox itself
    return _split(path, table, VECTOR)


def _split(path: Path, table: pa.Table, vector: str) -> Read:
    """Return the lists of a column as a matrix, and the ids of the other column, if there is one."""
    vectors = stack_lists(path, vector, decode(path, table.column(vector)))
    others = table.drop_columns([vector])
    if not others.num_columns:
        return vectors, None
    return vectors, _node_ids(table_from_arrow(path, others, ids=1, values=None, index=False).columns[0])


def _has_ids(schema: pa.Schema) -> bool:
    """Check for a column of ids: not if all are floats or named by their numbers."""
    if are_id_names(schema.names[:1]):
        return True
    numbered = schema.names == [str(i) for i in range(len(schema.names))]
    return not (numbered or all(map(pa.types.is_floating, schema.types)))


def _read_csv(path: Path) -> Read:
    table = read_table(path, ids=1, values=None)
    if _has_id_column(table):
        return _stack(table, _shorten(_cast_columns(table, first=1))), _node_ids(table.columns[0])
    columns = _cast_columns(table, first=0)
    if table.names is None and _is_column_numbers(columns):
        columns = [column.slice(1) for column in columns]
    return _stack(table, _shorten(columns)), None


def _is_column_numbers(columns: Sequence[pa.Array]) -> bool:
    """Check whether the first row contains the column numbers, as pandas writes for a plain matrix."""
    first = [column[0].as_py() for column in columns] if len(columns) > 1 and len(columns[0]) > 1 else []
    return first == [*range(len(columns))]


def _has_id_column(table: Table) -> bool:
    """Check whether the first column contains ids: by its name, or because it does not contain floats."""
    if table.names is not None and (not table.names[0] or are_id_names(table.names[:1])):
        return True
    first = table.columns[0]
    if len(table.columns) == 1:
        return False
    if not pa.types.is_string(first.type):
        return True
    are_numbers = pc.all(pc.match_substring_regex(first, rf"^\s*({NUMBER})\s*$")).as_py()
    return not (are_numbers and pc.any(pc.match_substring_regex(first, "[.eE]")).as_py())


def _read_projector(path: Path) -> Read:
    table = read_table(path, ids=0, values=None, header=False)
    vectors = _stack(table, _shorten(_cast_columns(table, first=0)))
    return vectors, _node_ids(read_projector_ids(path, rows=len(vectors)))


def _read_word2vec(path: Path) -> Read:
    ids, columns = read_word2vec(path)
    return _stack(Table(path, (ids, *columns), None), _shorten(columns)), _node_ids(ids)


# -- arrays ---------------------------------------------------------------------------------------------------------


def _read_npy(path: Path) -> Read:
    try:
        # Mapping avoids reading millions of vectors to look at a few.
        return np.lib.format.open_memmap(path, mode="r"), None
    except Exception:  # a damaged header can raise anything; read_npy reports what is wrong
        return read_npy(path), None


def _read_npz(path: Path) -> Read:
    with open_npz(path) as arrays:
        others = [name for name in arrays if name != "ids"]
        named = [name for name in _ARRAY_NAMES if name in arrays]
        name = named[0] if named else others[0] if len(others) == 1 else None
        if name is None:
            raise ReadError(f"{path} must contain an array 'vectors', or a single one; it contains {', '.join(others)}")
        ids = arrays.get("ids")
        if ids is not None and ids.dtype.kind == "S":
            with wrap_read_errors(path, "npz"):
                ids = np.char.decode(ids, "utf-8")
        return arrays[name], ids


# -- conversion of columns to a matrix ------------------------------------------------------------------------------


def _cast_columns(table: Table, *, first: int, double: bool = True) -> list[pa.Array]:
    """Cast the columns from ``first`` on to float64 or float32."""
    wanted = pa.float64() if double else pa.float32()
    return [_cast_column(table, i, wanted) for i in range(first, len(table.columns))]


def _cast_column(table: Table, position: int, wanted: pa.DataType) -> pa.Array:
    column = table.columns[position]
    if pa.types.is_string(column.type):
        check_numeric(table, position, column, "vectors", f": {_REMEDY}")
        column = pc.utf8_trim_whitespace(column)
    elif not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_null(column.type)):
        raise ReadError(
            f"vectors must be numbers; column {position + 1} of {table.path} contains {column.type}: {_REMEDY}"
        )
    return column.cast(wanted, safe=False)  # a large integer may be rounded, as in text


def _shorten(columns: Sequence[pa.Array]) -> Sequence[pa.Array]:
    """Cast float64 columns of a text file to float32 if no digit is lost."""
    short = []
    for column in columns:
        short.append(column.cast(pa.float32(), safe=False))
        if not pc.all(pc.equal(short[-1].cast(pa.string()).cast(pa.float64()), column)).as_py():
            return columns
    return short


def _stack(table: Table, columns: Sequence[pa.Array]) -> NDArray[Any]:
    """Stack columns to a matrix; an empty cell becomes NaN, which `Embedding` rejects with its id."""
    if not columns:
        raise ReadError(f"each row of {table.path} must contain an id and a vector; it contains the id alone")
    matrix = np.empty(
        (len(columns[0]), len(columns)), np.float64 if pa.types.is_float64(columns[0].type) else np.float32
    )
    for start in range(0, len(columns), _COLUMNS_PER_BLOCK):
        block = [column.to_numpy(zero_copy_only=False) for column in columns[start : start + _COLUMNS_PER_BLOCK]]
        matrix[:, start : start + len(block)] = np.array(block).T
    return matrix


def _node_ids(ids: pa.Array) -> NodeIds:
    node_ids = to_node_ids(ids)
    return np.arange(len(ids)) if node_ids is None else node_ids


_READERS: dict[str, Callable[[Path], Read]] = {
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
    ".csv": _read_csv,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".txt": _read_word2vec,
    ".w2v": _read_word2vec,
    ".vec": _read_word2vec,
    ".emb": _read_word2vec,
    ".tsv": _read_projector,
    ".duckdb": _read_database,
}
