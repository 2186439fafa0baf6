"""Encodings of text files: UTF-8, and what Excel writes instead."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from graphprox._utils.stacklevel import warn
from graphprox._utils.suggestions import shorten_repr
from graphprox.errors import AssumedInputWarning, ParameterError, ReadError
from graphprox.io.limits import LimitedFile
from graphprox.io.storage.files import is_gzipped, reason

UTF8, WINDOWS = "utf-8", "cp1252"
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # of UTF-8, readers skip it
# Text codecs of Python that are no encodings of files, and take a time that is not linear.
_UNSUITABLE = ("idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape")
# Control characters and what Windows-1252 does not define: neither occurs in text.
_NO_TEXT = bytes([*range(9), 11, *range(14, 26), *range(27, 32), 127, 0x81, 0x8D, 0x8F, 0x90, 0x9D])
_DAMAGED = "\N{REPLACEMENT CHARACTER}"
_BLOCK = 1 << 18


class EncodingError(ReadError):
    """A file is not text in the encoding that it was read in."""


def check_encoding(name: str | None) -> str | None:
    """Return the name under which Python knows an encoding.

    Parameters
    ----------
    name : str or None
        The encoding; None if it is to be detected.

    Returns
    -------
    str or None

    Raises
    ------
    ParameterError
        If there is no such encoding of text.

    Examples
    --------
    >>> check_encoding("Windows-1252"), check_encoding("latin1"), check_encoding("UTF8")
    ('cp1252', 'iso8859-1', 'utf-8')
    """
    if name is None:
        return None
    try:
        found = codecs.lookup(name).name
        # Python lists what is no encoding of text, such as base64, among the codecs too.
        "".encode(found)
        suitable = found.replace("-", "_") not in _UNSUITABLE and codecs.getincrementaldecoder(found)() is not None
    except (LookupError, ValueError, TypeError):
        suitable = False
    if not suitable:
        raise ParameterError(
            "encoding must be one of text that Python knows, such as utf-8, utf-16, cp1252 or latin-1; "
            f"got {shorten_repr(name)}"
        )
    return UTF8 if found == "utf-8-sig" else found


@contextmanager
def open_text(path: Path, *, whole: bool = False, encoding: str = UTF8) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes of UTF-8, decompressing it if its name ends in ``.gz``.

    Parameters
    ----------
    path : Path
        File to read.
    whole : bool, default=False
        Whether the format is not read row by row, so that the expansion of a compressed file is limited, too.
    encoding : str, default="utf-8"
        Encoding of the file. Text in UTF-8 is not checked.

    Yields
    ------
    file object

    Raises
    ------
    EncodingError
        If the file is not text in another encoding than UTF-8.
    ReadError
        If the compression is damaged, a line is too long or memory is running out.
    """
    try:
        with gzip.open(path) if is_gzipped(path) else path.open("rb") as opened:
            file = cast("IO[bytes]", opened)
            if encoding != UTF8:
                file = io.BufferedReader(_TranscodedFile(file, path, encoding), _BLOCK)
            yield cast("IO[bytes]", LimitedFile(file, path, whole=whole))
    except EOFError:
        raise ReadError(f"{path} must be a complete gzip file; it ends early: copy or download it again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ReadError(f"{path} must be a valid gzip file, as its name indicates; got {reason(error)}") from None


def detect_encoding(path: Path) -> str:
    """Return UTF-16 if a file begins with its byte order mark, and UTF-8 otherwise.

    Parameters
    ----------
    path : Path
        File to read.

    Returns
    -------
    str
    """
    with open_text(path) as file:
        return _MARKS.get(file.read(2), UTF8)


def assume_encoding(path: Path) -> str:
    """Return the encoding of a text file that is not UTF-8: Windows-1252, with a warning.

    Parameters
    ----------
    path : Path
        File to read.

    Returns
    -------
    str

    Raises
    ------
    ReadError
        If the file has bytes that no text has, or is UTF-8 but for a few bytes.

    Warns
    -----
    AssumedInputWarning
    """
    decoder = codecs.getincrementaldecoder(UTF8)("replace")
    valid = invalid = 0
    with open_text(path) as file:
        while block := file.read(_BLOCK):
            if len(block.translate(None, _NO_TEXT)) < len(block):
                raise not_text(path)
            text = decoder.decode(block)
            invalid += text.count(_DAMAGED)
            valid += len(text) - len(text.encode("ascii", "ignore")) - text.count(_DAMAGED)
    invalid += bool(decoder.decode(b"", final=True))
    if valid > invalid:
        damaged = "1 character is" if invalid == 1 else f"{invalid:,} characters are"
        rule = f"{path} must be text in UTF-8, as most of it is; {damaged} damaged"
        raise ReadError(f"{rule}: correct what is damaged, or set encoding to read it as another")
    warn(f"{path} is not UTF-8, and is read as Windows-1252: set encoding to read it as another", AssumedInputWarning)
    return WINDOWS


def not_text(path: Path, encoding: str = UTF8) -> EncodingError:
    """Return the error that a file is not text in an encoding.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str, default="utf-8"
        The encoding that it was read in.

    Returns
    -------
    EncodingError
    """
    if encoding == UTF8:
        return EncodingError(f"{path} must be text in UTF-8, as its name indicates; it contains something else")
    return EncodingError(f"{path} must be text in {encoding}; it contains something else: set another encoding")


class _TranscodedFile(io.RawIOBase):
    """A file of text in another encoding as one in UTF-8, a block at a time."""

    def __init__(self, file: IO[bytes], path: Path, encoding: str) -> None:
        super().__init__()
        self._file, self._path, self._encoding = file, path, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer as much as there is."""
        at_end = False
        while not self._ready and not at_end:
            block = self._file.read(_BLOCK)
            at_end = not block
            try:
                self._ready = memoryview(self._decoder.decode(block, final=at_end).encode())
            except UnicodeError:
                raise not_text(self._path, self._encoding) from None
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size
