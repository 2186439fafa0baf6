"""Writer of embeddings in formats that other programs read."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, get_args

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
from graphprox.io.embedding_folder.embedding_claims import check_replaceable, is_embedding_folder
from graphprox.io.embedding_folder.folder_writer import write_embedding_folder
from graphprox.io.embedding_folder.part_tables import ID, Layout, component_columns, id_column, write_row_groups
from graphprox.io.sql.sql_writer import DATABASE_ENDINGS, DEFAULT_TABLE, check_table, is_database, write_table
from graphprox.io.storage.files import atomic_write, make_writable_folder

_ROWS_PER_GROUP = 1 << 17  # are copied at a time
_ROWS_PER_BLOCK = 10_000  # text needs ten times the memory of numbers

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
        none                 a folder of such Parquet files, of up to 1,048,576 rows each, and a description of
                             them, ``_embedding.json``; each of several processes writes the rows of its own nodes
        ===================  ==========================================================================
    embedding : Embedding or array-like of shape (num_nodes, n_components)
        The vectors.
    ids : array-like of shape (num_nodes,), default=None
        Node ids. If None, those of the `Embedding`, or the row numbers of an array.
    layout : {"list", "wide"}, default=None
        Columns of Parquet files: ``vector`` of lists, or one per component, as in CSV. "list" if None.
    table : str, default=None
        Name of the table in a DuckDB database; "vectors" if None. Other tables are not touched.
    overwrite : bool, default=False
        Whether an older table of that name, or an older embedding in a folder, is replaced. Files are always replaced.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    WriteError
        If the ending is unknown, an id cannot be stored in the format, the file cannot be written, the table exists, or
        the folder has an embedding or files of other programs.
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
    path = to_output_path(path)
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
        Columns of Parquet files.
    table : str, default=None
        Name of the table in a DuckDB database.
    overwrite : bool, default=False
        Whether an older table, or an embedding in a folder, is replaced.

    Raises
    ------
    WriteError
        If the ending is unknown, the folder cannot be written to, or the table or embedding exists.
    ParameterError
        If the layout is unknown, or the file is in another format.
    """
    _get_writer(path, layout, table, overwrite=overwrite)
    make_writable_folder(path.parent)
    if is_embedding_folder(path):
        check_replaceable(path, overwrite=overwrite)
    elif path.is_dir():
        raise WriteError(f"{path} must be a file; it is a directory: name a file inside it")
    if is_database(path):
        check_table(path, table or DEFAULT_TABLE, overwrite=overwrite)


def to_output_path(path: str | Path) -> Path:
    """Return the path of an output; a name that ends with a slash must be that of a folder.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Path

    Raises
    ------
    ParameterError
        If such a name has an ending, which selects a file.

    Examples
    --------
    >>> to_output_path("vectors/").name
    'vectors'
    """
    text, found = str(path), Path(path)
    if text.endswith(("/", os.sep)) and found.suffix:
        raise ParameterError(
            f"the folder of an embedding must have a name without an ending; got {text!r}: leave out {found.suffix!r}, "
            "or the slash to write a file"
        )
    return found


def embedding_outputs(path: Path) -> list[Path]:
    """Return the files or the folder that `write_embedding` writes.

    Parameters
    ----------
    path : Path

    Returns
    -------
    list of Path
        The file, and that of the ids if it is for TensorBoard's projector; or the folder. None for a database: the
        vectors may be added to the one that is read, and DuckDB has locks of its own.
    """
    if is_database(path):
        return []
    return [path, path.with_name(f"{path.stem}.metadata.tsv")] if path.suffix.lower() == ".tsv" else [path]


def _get_writer(path: Path, layout: str | None, table: str | None, *, overwrite: bool) -> Writer:
    if table is not None and not is_database(path):
        raise ParameterError(f"table must be left out, except for a .duckdb file; got {path.name!r}")
    if layout is not None and layout not in get_args(Layout):
        raise ParameterError(f"layout must be one of {', '.join(get_args(Layout))}; got {layout!r}")
    if layout is not None and path.suffix.lower() not in (".parquet", ""):
        raise ParameterError(f"layout must be left out, except for a .parquet file or a folder; got {path.name!r}")
    if is_database(path):
        return partial(_write_table, table=table or DEFAULT_TABLE, overwrite=overwrite)
    if is_embedding_folder(path):
        return partial(write_embedding_folder, layout=_to_layout(layout), overwrite=overwrite)
    write = _WRITERS.get(path.suffix.lower())
    if write is None:
        known = ", ".join((*_WRITERS, *DATABASE_ENDINGS))
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise WriteError(f"the output must be a regular file with one of the endings {known}; got {str(path)!r}")
        raise WriteError(
            f"the ending of an embedding file must be one of {known}, and that of a folder none; got {path.name!r}"
        )
    return partial(write, layout=_to_layout(layout)) if write is _write_parquet else write


def _to_layout(layout: str | None) -> Layout:
    return "wide" if layout == "wide" else "list"


def _table(vectors: NDArray[Any], ids: NodeIds | None) -> pa.Table:
    columns = component_columns(vectors)
    return pa.table(columns if ids is None else {ID: id_column(ids), **columns})


def _write_parquet(path: Path, vectors: NDArray[Any], ids: NodeIds, *, layout: Layout) -> list[Path]:
    # Arrow opens no names that are not valid UTF-8.
    with atomic_write(path) as (staged,), staged.open("wb") as file:
        write_row_groups(file, vectors, ids, layout)
    return [path]


def _write_table(path: Path, vectors: NDArray[Any], ids: NodeIds, *, table: str, overwrite: bool) -> list[Path]:
    return write_table(path, vectors, id_column(ids), table=table, overwrite=overwrite)


def _write_csv(path: Path, vectors: NDArray[Any], ids: NodeIds) -> list[Path]:
    if pc.any(pc.match_substring(id_column(ids).cast(pa.string()), "\0")).as_py():
        raise WriteError("ids in a CSV file must not contain a NUL character; write .parquet instead")
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
    names = ids if ids.dtype.kind in "iu" else np.array(id_column(ids).to_pylist(), dtype=np.str_)
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
    _, metadata = embedding_outputs(path)
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
    names = id_column(ids).cast(pa.string())
    at = pc.index(pc.match_substring_regex(names, invalid), True).as_py()
    if at >= 0:
        raise WriteError(
            f"ids in {what} must not be empty or contain whitespace that ends a cell; got {names[at].as_py()!r}: "
            "write .parquet instead"
        )
    return [name.encode() for name in names.to_pylist()]


_WRITERS: dict[str, Callable[..., list[Path]]] = {
    ".parquet": _write_parquet,
    ".npz": _write_npz,
    ".npy": _write_npy,
    ".csv": _write_csv,
    ".txt": _write_word2vec,
    ".w2v": _write_word2vec,
    ".tsv": _write_projector,
}
