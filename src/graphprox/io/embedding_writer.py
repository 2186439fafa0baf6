"""Writer of embeddings in formats that other programs read."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import ArrayLike, NDArray

from graphprox._utils.arrays import NodeIds
from graphprox._utils.mapped import release_pages
from graphprox.embedding import Embedding, check_vectors
from graphprox.errors import ParameterError, WriteError
from graphprox.io.embedding_parts import check_folder_of_parts, is_folder_of_parts, part_files, write_parts
from graphprox.io.sql.sql_writer import DATABASE_ENDINGS, DEFAULT_TABLE, check_table, is_database, write_table
from graphprox.io.storage.files import atomic_write, make_writable_folder, reason
from graphprox.io.tables.list_columns import VECTOR, list_array

_ROWS_PER_GROUP = 1 << 17  # are encoded at a time
_ROWS_PER_BLOCK = 10_000  # text needs ten times the memory of numbers


Layout = Literal["list", "wide"]
Writer = Callable[[Path, NDArray[Any], NodeIds], list[Path]]


def write_embedding(
    path: str | Path,
    embedding: Embedding | ArrayLike,
    ids: ArrayLike | None = None,
    *,
    layout: Layout | None = None,
    table: str | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write an embedding to a file, atomically, in the format selected by the file's ending.

    Parameters
    ----------
    path : str or Path
        File to write:

        ===================  ==========================================================================
        ending               format
        ===================  ==========================================================================
        ``.parquet``         a column ``id`` and a column ``vector`` of fixed-size lists, for vector stores
        ``.npz``             NumPy's arrays ``ids`` and ``vectors``, without pickles
        ``.npy``             the array alone, rows in the order of the nodes
        ``.csv``             a column ``id``, then a column per component, ``0`` to ``n_components - 1``
        ``.txt``, ``.w2v``   word2vec text: the sizes in the first line, then an id and a vector per line
        ``.tsv``             TensorBoard's projector: the vectors, and the ids in ``NAME.metadata.tsv``
        ``.duckdb``          a table of a DuckDB database, with the columns ``id`` and ``vector``
        none                 a folder of such Parquet files, one for each process
        ===================  ==========================================================================
    embedding : Embedding or array-like of shape (num_nodes, n_components)
        The vectors.
    ids : array-like of shape (num_nodes,), default=None
        Node ids. If None, those of the `Embedding`, or the row numbers of an array.
    layout : {"list", "wide"}, default=None
        Columns of a Parquet file: ``vector`` of lists, or one per component, as in CSV. "list" if None.
    table : str, default=None
        Name of the table in a DuckDB database; "vectors" if None. Other tables are not touched.
    overwrite : bool, default=False
        Whether an older table of that name is replaced. Files are always replaced.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    WriteError
        If the ending is unknown, an id cannot be stored in the format, the file cannot be written, or the table exists.
    ParameterError
        If the vectors or ids are invalid, or a layout or table is given for another format.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = write_embedding(Path(folder, "vectors.txt"), [[1, 2], [3, 4.5]], ids=["ann", "bob"])
    ...     print(Path(folder, "vectors.txt").read_text().strip())
    2 2
    ann 1 2
    bob 3 4.5
    """
    path = Path(path)
    write = _get_writer(path, layout, table, overwrite=overwrite)
    vectors = check_vectors(embedding)
    if ids is None:
        ids = embedding.ids if isinstance(embedding, Embedding) else np.arange(len(vectors))
    names = np.asarray(ids)
    if names.dtype.kind == "U" and not isinstance(ids, np.ndarray):
        names = np.asarray(ids, dtype=object)  # strings of a fixed width lose a NUL at their end
    if names.shape != (len(vectors),):
        raise ParameterError(f"ids must name every row once; got shape {names.shape} for {len(vectors)} rows")
    return write(path, vectors, names)


def check_writable(path: Path, layout: str | None = None, table: str | None = None, *, overwrite: bool = False) -> None:
    """Check that an embedding can be written to a file, before it is computed.

    Parameters
    ----------
    path : Path
        The file.
    layout : {"list", "wide"}, default=None
        Columns of a Parquet file.
    table : str, default=None
        Name of the table in a DuckDB database.
    overwrite : bool, default=False
        Whether an older table is replaced.

    Raises
    ------
    WriteError
        If the ending is unknown, the folder cannot be written to, or the table exists.
    ParameterError
        If the layout is unknown, or the file is in another format.
    """
    _get_writer(path, layout, table, overwrite=overwrite)
    make_writable_folder(path.parent)
    if is_folder_of_parts(path):
        check_folder_of_parts(path)
    elif path.is_dir():
        raise WriteError(f"{path} must be a file; it is a directory: name a file inside it")
    if is_database(path):
        check_table(path, table or DEFAULT_TABLE, overwrite=overwrite)


def embedding_files(path: Path) -> list[Path]:
    """Return the files that `write_embedding` writes.

    Parameters
    ----------
    path : Path

    Returns
    -------
    list of Path
        The file, and that of the ids if it is for TensorBoard's projector. None for a database: the vectors may be
        added to the one that is read, and DuckDB has locks of its own.
    """
    if is_database(path):
        return []
    if is_folder_of_parts(path):
        return part_files(path)
    return [path, path.with_name(f"{path.stem}.metadata.tsv")] if path.suffix.lower() == ".tsv" else [path]


def _get_writer(path: Path, layout: str | None, table: str | None, *, overwrite: bool) -> Writer:
    if table is not None and not is_database(path):
        raise ParameterError(f"table must be left out, except for a .duckdb file; got {path.name!r}")
    if layout is not None and layout not in get_args(Layout):
        raise ParameterError(f"layout must be one of {', '.join(get_args(Layout))}; got {layout!r}")
    if layout is not None and path.suffix.lower() != ".parquet":
        raise ParameterError(f"layout must be left out, except for a .parquet file; got {path.name!r}")
    if is_database(path):
        return partial(_write_table, table=table or DEFAULT_TABLE, overwrite=overwrite)
    write = _WRITERS.get(path.suffix.lower())
    if write is None or (path.suffix == "" and not is_folder_of_parts(path)):
        known = ", ".join(filter(None, (*_WRITERS, *DATABASE_ENDINGS)))
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise WriteError(f"the output must be a regular file with one of the endings {known}; got {str(path)!r}")
        raise WriteError(f"the ending of an embedding file must be one of {known}; got {path.name!r}")
    return _write_wide if layout == "wide" else write


def _id_column(ids: NodeIds) -> pa.Array:
    try:
        return pa.array(ids if ids.dtype.kind in "iu" else [str(each) for each in ids.tolist()])
    except UnicodeError as error:
        raise ParameterError(f"ids must be valid UTF-8: {reason(error)}") from None


def _table(vectors: NDArray[Any], ids: NodeIds | None) -> pa.Table:
    columns = {str(i): pa.array(np.ascontiguousarray(vectors[:, i])) for i in range(vectors.shape[1])}
    return pa.table(columns if ids is None else {"id": _id_column(ids), **columns})


def make_table(vectors: NDArray[Any], ids: NodeIds) -> pa.Table:
    """Return ids and vectors as the columns of a Parquet file."""
    return pa.table({"id": _id_column(ids), VECTOR: list_array(vectors)})


def _write_parquet(path: Path, vectors: NDArray[Any], ids: NodeIds) -> list[Path]:
    schema = make_table(vectors[:1], ids[:1]).schema
    with (
        atomic_write(path) as (staged,),
        staged.open("wb") as file,  # Arrow opens no names that are not valid UTF-8
        # Components hardly repeat: a dictionary of them only takes time.
        pa.parquet.ParquetWriter(file, schema, use_dictionary=False) as writer,
    ):
        for start in range(0, len(vectors), _ROWS_PER_GROUP):
            rows = slice(start, start + _ROWS_PER_GROUP)
            writer.write_table(make_table(vectors[rows], ids[rows]))
            release_pages(vectors)
    return [path]


def _write_table(path: Path, vectors: NDArray[Any], ids: NodeIds, *, table: str, overwrite: bool) -> list[Path]:
    return write_table(path, vectors, _id_column(ids), table=table, overwrite=overwrite)


def _write_wide(path: Path, vectors: NDArray[Any], ids: NodeIds) -> list[Path]:
    with atomic_write(path) as (staged,), staged.open("wb") as file:
        pa.parquet.write_table(_table(vectors, ids), file)
    return [path]


def _write_csv(path: Path, vectors: NDArray[Any], ids: NodeIds) -> list[Path]:
    with atomic_write(path) as (staged,), staged.open("wb") as file:
        pa.csv.write_csv(_table(vectors, ids), file, pa.csv.WriteOptions(quoting_style="needed"))
    return [path]


def _write_npy(path: Path, vectors: NDArray[Any], ids: NodeIds) -> list[Path]:  # noqa: ARG001
    rows = np.ascontiguousarray(vectors)
    with atomic_write(path) as (staged,), staged.open("wb") as file:
        # np.save does not report why the operating system rejected a write.
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(rows))
        for start in range(0, len(rows), _ROWS_PER_GROUP):
            file.write(rows[start : start + _ROWS_PER_GROUP].data)
            release_pages(rows)
    return [path]


def _write_npz(path: Path, vectors: NDArray[Any], ids: NodeIds) -> list[Path]:
    names = ids if ids.dtype.kind in "iu" else np.array(_id_column(ids).to_pylist(), dtype=np.str_)
    if names.dtype.kind == "U" and any(str(name).endswith("\0") for name in ids.tolist()):
        raise WriteError("ids in an npz file must not end in a NUL character; write .parquet instead")
    with atomic_write(path) as (staged,), staged.open("wb") as file:
        np.savez(file, ids=names, vectors=vectors)
    return [path]


def _write_word2vec(path: Path, vectors: NDArray[Any], ids: NodeIds) -> list[Path]:
    names = _encode_ids(ids, "word2vec's text", r"[\s\pZ\x{85}\x{1c}-\x{1f}]|^$")
    with atomic_write(path) as (staged,), staged.open("wb") as file:
        file.write(b"%d %d\n" % vectors.shape)
        for start in range(0, len(vectors), _ROWS_PER_BLOCK):
            rows = slice(start, start + _ROWS_PER_BLOCK)
            text = _format_numbers(vectors[rows], delimiter=" ").splitlines()
            file.writelines(b"%b %b\n" % each for each in zip(names[rows], text, strict=True))
    return [path]


def _write_projector(path: Path, vectors: NDArray[Any], ids: NodeIds) -> list[Path]:
    names = _encode_ids(ids, "a TSV file", r"[\t\r\n]|^$")
    _, metadata = embedding_files(path)
    with atomic_write(path, metadata) as (staged, staged_metadata):
        with staged.open("wb") as file:
            for start in range(0, len(vectors), _ROWS_PER_BLOCK):
                file.write(_format_numbers(vectors[start : start + _ROWS_PER_BLOCK], delimiter="\t"))
        # The projector expects no header if the metadata has a single column.
        staged_metadata.write_bytes(b"".join(name + b"\n" for name in names))
    return [path, metadata]


def _format_numbers(vectors: NDArray[Any], *, delimiter: str) -> bytes:
    text = io.BytesIO()
    plain = pa.csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none")
    pa.csv.write_csv(_table(vectors, None), text, plain)
    return text.getvalue()


def _encode_ids(ids: NodeIds, what: str, invalid: str) -> list[bytes]:
    """Encode ids for text without quoting, in which whitespace ends a cell."""
    names = _id_column(ids).cast(pa.string())
    at = pc.index(pc.match_substring_regex(names, invalid), True).as_py()
    if at >= 0:
        raise WriteError(
            f"ids in {what} must not be empty or contain whitespace that ends a cell; got {names[at].as_py()!r}: "
            "write .parquet instead"
        )
    return [name.encode() for name in names.to_pylist()]


_WRITERS: dict[str, Writer] = {
    ".parquet": _write_parquet,
    ".npz": _write_npz,
    ".npy": _write_npy,
    ".csv": _write_csv,
    ".txt": _write_word2vec,
    ".w2v": _write_word2vec,
    ".tsv": _write_projector,
    "": write_parts,
}
