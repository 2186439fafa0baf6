"""write_embedding: from an array to a file that other programs read."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import ArrayLike, NDArray

from graphprox.arrays import NodeIds
from graphprox.embedding import as_vectors
from graphprox.errors import ParameterError, WriteError
from graphprox.io.files import reason, writable_folder, written_whole

_ROWS_AT_ONCE = 10_000  # text takes ten times the memory of what it says


def write_embedding(path: str | Path, embedding: ArrayLike, ids: ArrayLike | None = None) -> list[Path]:
    """Write an embedding, (nodes, dimensions), in the format that the file's ending names; whole or not at all.

    | ending                  | what is written                                                              |
    |-------------------------|------------------------------------------------------------------------------|
    | ``.parquet``            | a column ``id``, then ``0`` .. ``d-1``                                       |
    | ``.csv``                | the same as text, with a header                                              |
    | ``.npy``                | the array alone, rows in the order of the nodes                              |
    | ``.txt``, ``.w2v``      | word2vec's text: a line ``nodes dimensions``, then an id and its numbers     |
    | ``.tsv``                | TensorBoard's projector: the vectors, and beside them ``NAME.metadata.tsv``  |

    ``ids`` are the nodes' numbers where they are left out. Returns the paths that were written.

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
    write = _writer(path)
    vectors = as_vectors(embedding)
    names = np.arange(len(vectors)) if ids is None else np.asarray(ids)
    if names.shape != (len(vectors),):
        raise ParameterError(f"ids must name every row once; got shape {names.shape} for {len(vectors)} rows")
    return write(path, vectors, names)


def check_writable(path: Path) -> None:
    """Say what would keep an embedding from being written there, before there is one."""
    _writer(path)
    writable_folder(path.parent)
    if path.is_dir():
        raise WriteError(f"{path} must be a file; it is a directory: name a file inside it")


def _writer(path: Path) -> Callable[[Path, NDArray[Any], NodeIds], list[Path]]:
    write = _WRITERS.get(path.suffix.lower())
    if write is None:
        raise WriteError(f"the ending of an embedding's file must be one of {', '.join(_WRITERS)}; got {path.name!r}")
    return write


def _id_column(ids: NodeIds) -> pa.Array:
    try:
        return pa.array(ids if ids.dtype.kind in "iu" else [str(each) for each in ids.tolist()])
    except UnicodeError as error:
        raise ParameterError(f"ids must be text that UTF-8 can hold: {reason(error)}") from None


def _table(vectors: NDArray[Any], ids: NodeIds | None) -> pa.Table:
    columns = {str(i): pa.array(np.ascontiguousarray(vectors[:, i])) for i in range(vectors.shape[1])}
    return pa.table(columns if ids is None else {"id": _id_column(ids), **columns})


def _write_parquet(path: Path, vectors: NDArray[Any], ids: NodeIds) -> list[Path]:
    with written_whole(path) as (staged,):
        pa.parquet.write_table(_table(vectors, ids), staged)
    return [path]


def _write_csv(path: Path, vectors: NDArray[Any], ids: NodeIds) -> list[Path]:
    with written_whole(path) as (staged,):
        pa.csv.write_csv(_table(vectors, ids), staged, pa.csv.WriteOptions(quoting_style="needed"))
    return [path]


def _write_npy(path: Path, vectors: NDArray[Any], ids: NodeIds) -> list[Path]:  # noqa: ARG001 - rows are in the order of the nodes
    rows = np.ascontiguousarray(vectors)
    with written_whole(path) as (staged,), staged.open("wb") as file:
        # np.save would not say why the system stopped it.
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(rows))
        file.write(rows.data)
    return [path]


def _write_word2vec(path: Path, vectors: NDArray[Any], ids: NodeIds) -> list[Path]:
    names = _lines(ids, "word2vec's text", r"[\s\pZ\x{85}\x{1c}-\x{1f}]|^$")
    with written_whole(path) as (staged,), staged.open("wb") as file:
        file.write(b"%d %d\n" % vectors.shape)
        for start in range(0, len(vectors), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            text = _numbers_as_text(vectors[rows], delimiter=" ").splitlines()
            file.writelines(b"%b %b\n" % each for each in zip(names[rows], text, strict=True))
    return [path]


def _write_projector(path: Path, vectors: NDArray[Any], ids: NodeIds) -> list[Path]:
    names = _lines(ids, "a TSV file", r"[\t\r\n]")
    metadata = path.with_name(f"{path.stem}.metadata.tsv")
    with written_whole(path, metadata) as (staged, staged_metadata):
        with staged.open("wb") as file:
            for start in range(0, len(vectors), _ROWS_AT_ONCE):
                file.write(_numbers_as_text(vectors[start : start + _ROWS_AT_ONCE], delimiter="\t"))
        # The projector wants no header where the metadata has a single column.
        staged_metadata.write_bytes(b"".join(name + b"\n" for name in names))
    return [path, metadata]


def _numbers_as_text(vectors: NDArray[Any], *, delimiter: str) -> bytes:
    text = io.BytesIO()
    plain = pa.csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none")
    pa.csv.write_csv(_table(vectors, None), text, plain)
    return text.getvalue()


def _lines(ids: NodeIds, what: str, unfit: str) -> list[bytes]:
    """The ids as they stand in text without quotes, where white space would end them."""
    names = _id_column(ids).cast(pa.string())
    at = pc.index(pc.match_substring_regex(names, unfit), True).as_py()
    if at >= 0:
        raise WriteError(
            f"ids in {what} must not be empty or hold white space that ends a cell; got {names[at].as_py()!r}: "
            "write .parquet instead"
        )
    return [name.encode() for name in names.to_pylist()]


_WRITERS: dict[str, Callable[[Path, NDArray[Any], NodeIds], list[Path]]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".npy": _write_npy,
    ".txt": _write_word2vec,
    ".w2v": _write_word2vec,
    ".tsv": _write_projector,
}
