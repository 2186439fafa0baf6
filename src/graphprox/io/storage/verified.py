"""Files that are verified by checksums: descriptions in JSON and arrays in safetensors, without pickles."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version as package_version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

import graphprox
from graphprox.errors import ReadError
from graphprox.io.storage.files import find_temporaries, reason

if TYPE_CHECKING:
    from torch import Tensor


class Record(BaseModel):
    """A part of a description, of fields that are validated."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


R = TypeVar("R", bound=Record)

# -- descriptions ---------------------------------------------------------------------------------------------------


def dump_with_checksum(about: Mapping[str, Any]) -> str:
    """Return a description as JSON, with a checksum of itself.

    Parameters
    ----------
    about : mapping of str to object
        What JSON can contain; ``about["format"]`` is the version of its format.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If a number is not finite, as JSON has none of these.

    Examples
    --------
    >>> sorted(json.loads(dump_with_checksum({"format": 1})))
    ['checksum', 'format']
    """
    return json.dumps({**about, "checksum": checksum_of_description(about)}, indent=2, allow_nan=False) + "\n"


def read_with_checksum(path: Path, version: int) -> dict[str, Any]:
    """Read a description that `dump_with_checksum` has written.

    Parameters
    ----------
    path : Path
    version : int
        The format that the description must have.

    Returns
    -------
    dict

    Raises
    ------
    ReadError
        If the file is missing, damaged or of another format.
    """
    try:
        about: dict[str, Any] = json.loads(path.read_text())
        found = about["format"]  # first, as other versions may have other checksums
        if found == version and about.pop("checksum") != checksum_of_description(about):
            raise ValueError("its content does not match its checksum")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ReadError(f"{path} is damaged: {reason(error)}") from None
    if found != version:
        raise ReadError(f"{path} must have format {version}; it has {found}, of another version of graphprox")
    return about


def dump_record(found: Record, version: int, *packages: str) -> str:
    """Return a description as JSON, with its format, the versions of packages and a checksum of itself.

    Parameters
    ----------
    found : Record
    version : int
        Version of its format.
    *packages : str
        Names of installed packages, besides graphprox.

    Returns
    -------
    str
    """
    about = {"format": version, **found.model_dump(mode="json"), "versions": library_versions(*packages)}
    return dump_with_checksum(about)


def read_record(path: Path, version: int, kind: type[R], what: str) -> R:
    """Read a description that `dump_record` has written.

    Parameters
    ----------
    path : Path
    version : int
        The format that the description must have.
    kind : type
    what : str
        What it describes, for messages.

    Returns
    -------
    Record
        Of that kind.

    Raises
    ------
    ReadError
        If the file is missing, damaged or of another format.
    """
    about = read_with_checksum(path, version)
    del about["format"]
    about.pop("versions", None)
    try:
        return kind.model_validate_json(json.dumps(about))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        why = first["msg"].removeprefix("Value error, ")  # that of a validator of our own, which may be of all fields
        raise ReadError(f"{path} must describe {what}; it does not: {where and f'{where}: '}{why}") from None


def library_versions(*names: str) -> dict[str, str]:
    """Return the versions of Python, graphprox and other packages, for a description.

    Parameters
    ----------
    *names : str
        Names of installed packages.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> list(library_versions("numpy"))
    ['python', 'graphprox', 'numpy']
    """
    return {
        "python": platform.python_version(),
        "graphprox": graphprox.__version__,
        **{name: package_version(name) for name in names},
    }


def checksum_of_description(about: Mapping[str, Any]) -> str:
    """Return the checksum of a description, whatever the order of its entries."""
    return checksum(json.dumps(about, sort_keys=True).encode())


# -- other files ----------------------------------------------------------------------------------------------------


def checksum(content: bytes) -> str:
    """Return the SHA-256 of some bytes.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    str

    Examples
    --------
    >>> checksum(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(content).hexdigest()


def checksum_of_file(path: Path) -> str:
    """Return the SHA-256 of a file, of which a block is in memory at a time.

    Parameters
    ----------
    path : Path

    Returns
    -------
    str
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_verified_bytes(path: Path, expected: str) -> bytes:
    """Read a file whose content must match a checksum.

    Parameters
    ----------
    path : Path
    expected : str
        The checksum.

    Returns
    -------
    bytes

    Raises
    ------
    ReadError
        If the file is missing or damaged.
    """
    failure = "its content does not match the recorded checksum"
    # A process that was killed while it replaced a model has left a backup of what the description still describes.
    for candidate in (path, *find_temporaries(path)):
        try:
            content = candidate.read_bytes()
        except OSError as error:
            failure = reason(error) if candidate == path else failure
            continue
        if checksum(content) == expected:
            return content
    raise ReadError(f"{path} is damaged: {failure}")


def load_verified_tensors(path: Path, expected: str) -> dict[str, Tensor]:
    """Load the tensors of a safetensors file whose content must match a checksum.

    Parameters
    ----------
    path : Path
    expected : str
        The checksum.

    Returns
    -------
    dict of str to Tensor

    Raises
    ------
    ReadError
        If the file is missing or damaged.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load as load_safetensors

    content = read_verified_bytes(path, expected)
    try:
        # Copies, because the buffer may not be aligned, and sums over unaligned arrays round differently.
        return {name: tensor.clone() for name, tensor in load_safetensors(content).items()}
    except SafetensorError as error:
        raise ReadError(f"{path} is damaged: {reason(error)}") from None


# -- errors ------------------------------------------------------------------------------------------------------------


@contextmanager
def add_remedy(remedy: str) -> Iterator[None]:
    """Add to errors of reading what to do about them.

    Parameters
    ----------
    remedy : str
        The end of the sentence.

    Yields
    ------
    None
    """
    try:
        yield
    except ReadError as error:
        raise ReadError(f"{error}: {remedy}") from None
