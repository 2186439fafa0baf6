"""read_embedding: from a file, by graphprox or by others, to vectors with ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from numpy.typing import ArrayLike, NDArray

from graphprox.arrays import NodeIds
from graphprox.embedding import Embedding
from graphprox.errors import ParameterError, ReadError
from graphprox.io.arrays import damage_named, opened_npz, read_npy
from graphprox.io.files import ending, readable
from graphprox.io.ids import as_node_ids
from graphprox.io.layout import NUMBER, are_names_of_ids
from graphprox.io.tables import Table, read_table, refuse_words
from graphprox.io.word2vec import read_projector_ids, read_word2vec

_COLUMNS_AT_ONCE = 16  # as many float32 numbers as the processor fetches at a time

Read = tuple[NDArray[Any], NodeIds | None]  # vectors, and the ids if the file has any


def read_embedding(path: str | Path, *, ids: ArrayLike | None = None) -> Embedding:
    r"""Read an embedding in the format that the file's ending names.

    | ending                                 | what is read                                                          |
    |----------------------------------------|-----------------------------------------------------------------------|
    | ``.parquet``, ``.pq``                  | a column of ids, then one per dimension, or a single one of lists     |
    | ``.csv``                               | the same as text, with or without a header                            |
    | ``.npy``                               | a matrix, a row per node                                              |
    | ``.npz``                               | an array ``embedding``, or a single one, and ``ids`` if there are any |
    | ``.txt``, ``.w2v``, ``.vec``, ``.emb`` | word2vec's text: a line ``nodes dimensions``, then an id and numbers  |
    | ``.tsv``                               | TensorBoard's projector: vectors, and ids in ``NAME.metadata.tsv``    |

    Text may be gzipped. Its ids are int64 if all of them are whole numbers; its numbers are float32 if that writes
    each of them with the same digits, and float64 else, so that nothing is lost. Where a file has no ids, which a
    table whose first column holds fractions has not, ``ids`` name its rows, or else their numbers do.
    An ``.npy`` file is mapped, not copied: it may be replaced while the embedding is in use, but not written over.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "vectors.txt").write_text("2 3\nann 1 2 0\nbob 3 4.5 0\n")
    ...     embedding = read_embedding(Path(folder, "vectors.txt"))
    >>> embedding, embedding.ids.tolist()
    (Embedding(2 nodes, 3 dimensions), ['ann', 'bob'])
    """
    path = Path(path)
    read = _READERS.get(ending(path))
    if read is None:
        raise ReadError(f"the ending of an embedding's file must be one of {', '.join(_READERS)}; got {path.name!r}")
    vectors, own = read(readable(path))
    if own is None and ids is not None and vectors.ndim == 2 and len(vectors) != np.size(ids):
        raise ReadError(
            f"{path} has no ids of its own, so it must have a row for each of the {np.size(ids)} that are given; "
            f"it has {len(vectors)}"
        )
    vectors.flags.writeable = False  # nobody else holds it, so that no copy need be made
    try:
        return Embedding(vectors, ids if own is None else own)
    except ParameterError as error:
        raise ReadError(f"{path} must hold an embedding: {error}") from None


# -- tables ---------------------------------------------------------------------------------------------------------


def _read_parquet(path: Path) -> Read:
    has_ids = _parquet_has_ids(path)
    table = read_table(path, ids=int(has_ids), values=None)
    ids = _node_ids(table.columns[0]) if has_ids else None
    lists = [column for column in table.columns[has_ids:] if _is_list(column.type)]
    if len(lists) == 1:
        return _matrix_of_lists(path, lists[0]), ids
    double = any(pa.types.is_float64(column.type) for column in table.columns[has_ids:])
    return _matrix(table, _floats(table, first=has_ids, double=double)), ids


def _parquet_has_ids(path: Path) -> bool:
    """Whether a column holds ids: not if all hold fractions or are named by their numbers, nor if one holds lists."""
    try:
        schema = pa.parquet.read_schema(path)
    except (pa.ArrowException, OSError):
        return True  # no matter: whoever reads it says what is wrong
    if are_names_of_ids(schema.names[:1]):
        return True
    counted = schema.names == [str(i) for i in range(len(schema.names))]
    list_alone = len(schema.types) == 1 and _is_list(schema.types[0])
    return not (counted or list_alone or all(map(pa.types.is_floating, schema.types)))


def _read_csv(path: Path) -> Read:
    table = read_table(path, ids=1, values=None)
    if _begins_with_ids(table):
        return _matrix(table, _as_written(_floats(table, first=1))), _node_ids(table.columns[0])
    columns = _floats(table, first=0)
    if table.names is None and _is_counted(columns):
        columns = [column.slice(1) for column in columns]
    return _matrix(table, _as_written(columns)), None


def _is_counted(columns: Sequence[pa.Array]) -> bool:
    """Whether the first row holds the numbers of the columns: so pandas names those of a plain matrix."""
    first = [column[0].as_py() for column in columns] if len(columns) > 1 and len(columns[0]) > 1 else []
    return first == [*range(len(columns))]


def _begins_with_ids(table: Table) -> bool:
    """Whether the first column holds ids: it does unless it holds fractions, and has no name that says so."""
    if table.names is not None and (not table.names[0] or are_names_of_ids(table.names[:1])):
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
    vectors = _matrix(table, _as_written(_floats(table, first=0)))
    return vectors, _node_ids(read_projector_ids(path, rows=len(vectors)))


def _read_word2vec(path: Path) -> Read:
    ids, columns = read_word2vec(path)
    return _matrix(Table(path, (ids, *columns), None), _as_written(columns)), _node_ids(ids)


# -- arrays ---------------------------------------------------------------------------------------------------------


def _read_npy(path: Path) -> Read:
    try:
        # A million nodes need not fill the memory for one of them to be looked at.
        return np.lib.format.open_memmap(path, mode="r"), None
    except Exception:  # a damaged header can raise anything: reading succeeds, or says what is wrong
        return read_npy(path), None


def _read_npz(path: Path) -> Read:
    with opened_npz(path) as arrays:
        others = [name for name in arrays if name != "ids"]
        name = "embedding" if "embedding" in arrays else others[0] if len(others) == 1 else None
        if name is None:
            raise ReadError(f"{path} must hold an array 'embedding', or a single one; it holds {', '.join(others)}")
        ids = arrays.get("ids")
        if ids is not None and ids.dtype.kind == "S":
            with damage_named(path, "npz"):
                ids = np.char.decode(ids, "utf-8")
        return arrays[name], ids


# -- from columns to a matrix ---------------------------------------------------------------------------------------


def _floats(table: Table, *, first: int, double: bool = True) -> list[pa.Array]:
    """The columns from the ``first`` on, as float64 or float32; what holds no numbers is refused."""
    wanted = pa.float64() if double else pa.float32()
    return [_as_floats(table, i, wanted) for i in range(first, len(table.columns))]


def _as_floats(table: Table, position: int, wanted: pa.DataType) -> pa.Array:
    column = table.columns[position]
    if pa.types.is_string(column.type):
        refuse_words(table, position, column, "vectors")
        column = pc.utf8_trim_whitespace(column)
    elif not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_null(column.type)):
        raise ReadError(f"vectors must be numbers; column {position + 1} of {table.path} holds {column.type}")
    return column.cast(wanted, safe=False)  # a large whole number may be rounded, as it is in text


def _as_written(columns: Sequence[pa.Array]) -> Sequence[pa.Array]:
    """The float64 columns of a text, as float32 if that writes every number with the digits that stand there."""
    short = []
    for column in columns:
        short.append(column.cast(pa.float32(), safe=False))
        if not pc.all(pc.equal(short[-1].cast(pa.string()).cast(pa.float64()), column)).as_py():
            return columns
    return short


def _matrix(table: Table, columns: Sequence[pa.Array]) -> NDArray[Any]:
    """The columns side by side, (nodes, dimensions); an empty cell becomes NaN, which `Embedding` refuses by its id."""
    if not columns:
        raise ReadError(f"each row of {table.path} must hold an id and a vector; it holds the id alone")
    matrix = np.empty(
        (len(columns[0]), len(columns)), np.float64 if pa.types.is_float64(columns[0].type) else np.float32
    )
    for start in range(0, len(columns), _COLUMNS_AT_ONCE):
        some = [column.to_numpy(zero_copy_only=False) for column in columns[start : start + _COLUMNS_AT_ONCE]]
        matrix[:, start : start + len(some)] = np.array(some).T
    return matrix


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _matrix_of_lists(path: Path, column: pa.Array) -> NDArray[Any]:
    lengths = pc.unique(pc.list_value_length(column)).to_pylist()
    if len(lengths) != 1 or not lengths[0]:
        raise ReadError(f"every vector must have as many numbers as the first; {path} has lists of {lengths[:3]}")
    values = Table(path, (column.flatten(),), None)
    double = pa.types.is_float64(values.columns[0].type)
    return _matrix(values, _floats(values, first=0, double=double)).reshape(-1, lengths[0])


def _node_ids(ids: pa.Array) -> NodeIds:
    named = as_node_ids(ids)
    return np.arange(len(ids)) if named is None else named


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
}
