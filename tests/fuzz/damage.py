"""Damaged files, and what may come out of a reader of them."""

from __future__ import annotations

import io
import warnings

import numpy as np

from graphprox import GraphproxError, GraphproxWarning

# Words that have a meaning in some format.
WORDS = [b"nan", b"-1", b",", b'"', b"\n", b"\0", b"\xff", b" ", b"#", b"<", b"9" * 20, b"1e999", b"\t", b"\r", b"."]


def to_bytes(write):
    """Return the bytes that a function writes to a file object."""
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def damage(content, case):
    """Change, insert, remove or repeat some bytes of a file, or truncate it; the same way for the same case."""
    rng = np.random.default_rng([case, len(content)])
    broken = bytearray(content)
    used = np.flatnonzero(np.frombuffer(content, np.uint8)) if len(content) > 10_000 else None  # not of empty pages
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        at = int(rng.integers(len(broken) + 1) if used is None else rng.choice(used))
        until = at + int(rng.integers(1, 20))
        kind = rng.choice(["flip", "flip", "byte", "word", "remove", "repeat", "zero", "truncate"])
        if kind == "flip" and at < len(broken):
            broken[at] ^= 1 << int(rng.integers(8))
        elif kind == "byte":
            broken[at : at + 1] = rng.bytes(1)
        elif kind == "word":
            broken[at:at] = WORDS[rng.integers(len(WORDS))]
        elif kind == "remove":
            del broken[at:until]
        elif kind == "repeat":
            broken[at:at] = broken[at:until]
        elif kind == "zero":
            broken[at:until] = bytes(len(broken[at:until]))
        elif kind == "truncate":
            del broken[at:]
    return bytes(broken)


def attempt(read, *arguments, also=()):
    """Return what a function returns, or the GraphproxError that it raises, which must be one sentence."""
    with warnings.catch_warnings(action="ignore", category=GraphproxWarning):
        try:
            return read(*arguments)
        except (GraphproxError, *also) as error:
            check_sentence(error)
            return error


def check_sentence(error):
    text = str(error)
    assert text
    assert "\n" not in text, text
    assert len(text) < 1000, text
