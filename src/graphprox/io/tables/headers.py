"""Detection of a header: whether the first row of a text table names its columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum

from graphprox._utils.column_names import are_id_names, find_ends, is_entity, is_entity_id, is_label
from graphprox.preprocessing.table_cells import MISSING, NUMBER

NUMBER_CELL = re.compile(NUMBER)
_WORDS = re.compile(r"#?[^\W\d]+([ .-][^\W\d]+)*|#?[^\W\d]{3,}[ .-]?\d")  # no codes such as Q42
_MAX_ISOLATED = 0.1  # share of rows whose ids occur nowhere else, above which a first row like that is not special
_LOOSE_ROWS, _MAX_LOOSE_ISOLATED = 50, 0.02  # from which even an edge list of networkx or SNAP has a header
_MAX_DISTINCT = 0.5  # share of distinct cells of a column whose values repeat

Rows = Sequence[Sequence[str]]


class Header(Enum):
    """Whether there is a header, and whether this is certain or only the more likely reading."""

    PRESENT = "present"
    ABSENT = "absent"
    ASSUMED_PRESENT = "assumed present"
    ASSUMED_ABSENT = "assumed absent"

    @property
    def present(self) -> bool:
        """Whether the first row is read as a header."""
        return self in (Header.PRESENT, Header.ASSUMED_PRESENT)

    @property
    def assumed(self) -> bool:
        """Whether the table could also be read the other way."""
        return self in (Header.ASSUMED_PRESENT, Header.ASSUMED_ABSENT)


def detect_header(rows: Rows, *, ids: int, loose: bool = False) -> Header:
    """Detect whether the first row names the columns.

    It does if it contains common names of id columns that are not ids of other rows, or if it contains no number while
    some column contains only numbers, dates or codes in the other rows. If words are all there is, a first row whose
    ids occur nowhere else while those of the others do is assumed to be a header. If the format has none usually, there
    must be many other rows. If it has one usually, a first row of words that occur nowhere else is only assumed to be
    data.

    Parameters
    ----------
    rows : sequence of sequences of str
        Cells of the first rows.
    ids : int
        Number of id columns, which come first.
    loose : bool, default=False
        Whether the format is an edge list as of networkx or SNAP, which has no header usually.

    Returns
    -------
    Header

    Examples
    --------
    >>> detect_header([["u", "v"], ["ann", "bob"]], ids=2), detect_header([["u", "v"], ["v", "w"]], ids=2)
    (<Header.PRESENT: 'present'>, <Header.ABSENT: 'absent'>)
    """
    first, rest = [cell.strip() for cell in rows[0]], [row for row in rows[1:] if len(row) == len(rows[0])]
    if ids == 2 and len(first) > 2 and not first[0]:  # the index of pandas
        return detect_header([row[1:] for row in (rows[0], *rest)], ids=ids, loose=loose)
    numbers = [cell for cell in first if NUMBER_CELL.fullmatch(cell)]
    # pandas leaves the name of an index empty, and numbers unnamed columns.
    common = are_id_names(first[:ids]) or (ids == 1 and not first[0])
    recurs = any(cell.strip() in first[:ids] for row in rows[1:] for cell in row[:ids])
    if ids == 1 and ((common and _are_consecutive(first[1:])) or (is_entity_id(first[0]) and not recurs)):
        return Header.PRESENT
    if not numbers and not recurs and (common or (ids == 2 and _names_ends(first, rest))):
        return Header.PRESENT
    if numbers or any(cell.lower() in MISSING for cell in first) or not len(rows) > 1:
        is_named = is_entity_id if numbers else is_entity  # of a table without rows
        ids_named = ids == 2 and len(rows) == 1 and all(map(is_named, first[:2]))
        return Header.PRESENT if ids_named else Header.ABSENT
    if _has_column_of(rest, lambda cell: NUMBER_CELL.fullmatch(cell) is not None):
        return Header.PRESENT
    return Header.ABSENT if recurs else _compare_words(first, rest, ids=ids, loose=loose)


def _names_ends(first: Sequence[str], rest: Rows) -> bool:
    """Check whether some cells name the two ends of an edge, and do not occur below."""
    ends = find_ends(first)
    return ends is not None and not any(row[i].strip() == first[i] for row in rest for i in ends)


def _compare_words(first: Sequence[str], rest: Rows, *, ids: int, loose: bool) -> Header:
    """Detect a header among words, none of which is an id of another row."""
    if ids == 0:
        named = len(first) == 1 and is_label(first[0]) and [first[0]] not in rest
        return Header.PRESENT if named else Header.ABSENT
    if all(map(is_entity_id, first[:ids])) or (ids == 1 and len(first) == 2 and is_label(first[1])):
        return Header.PRESENT
    if not all(map(_WORDS.fullmatch, first)):
        return Header.ABSENT
    if len(rest) > 1 and any(_all_differ(first[i], [row[i].strip() for row in rest]) for i in range(len(first))):
        return Header.PRESENT
    if all(map(is_entity, first[:ids])):
        return Header.ASSUMED_PRESENT
    if not _is_special(first, rest, ids=ids):
        return Header.ABSENT if loose or _has_known_values(first, rest, ids=ids) else Header.ASSUMED_ABSENT
    is_rare = ids == 2 and len(rest) >= _LOOSE_ROWS and _count_isolated(rest) <= _MAX_LOOSE_ISOLATED * len(rest)
    return Header.ASSUMED_ABSENT if loose and not is_rare else Header.ASSUMED_PRESENT


def _has_column_of(rest: Rows, check: Callable[[str], bool]) -> bool:
    return any(all(check(cell.strip()) for cell in column) for column in zip(*rest, strict=True))


def _all_differ(name: str, cells: Sequence[str]) -> bool:
    """Check whether all cells are dates, codes or addresses, with digits or an @, and the first one is a word."""
    return any(
        not re.search(kind, name) and all(re.search(kind, cell) for cell in cells) for kind in (r"\d", "@", "[:/]")
    )


def _is_special(first: Sequence[str], rest: Rows, *, ids: int) -> bool:
    """Check whether the cells of the first row occur nowhere else, while those of most others do."""
    if len(rest) < 3:
        return False
    if ids == 2:
        return _count_isolated(rest) <= _MAX_ISOLATED * len(rest)
    columns = ([row[i].strip() for row in rest] for i in range(ids, len(first)))
    values = [(first[ids + i], set(column)) for i, column in enumerate(columns)]
    return any(name not in known and len(known) <= _MAX_DISTINCT * len(rest) for name, known in values)


def _has_known_values(first: Sequence[str], rest: Rows, *, ids: int) -> bool:
    """Check whether a cell of the first row besides its ids occurs in the same column below, as a value does."""
    return any(row[i].strip() == first[i] for row in rest for i in range(ids, len(first)))


def _count_isolated(rest: Rows) -> int:
    """Count the edges whose ids occur in no other row."""
    counts = Counter(cell.strip() for row in rest for cell in row[:2])
    return sum(all(counts[cell.strip()] == 1 for cell in row[:2]) for row in rest)


def _are_consecutive(cells: Sequence[str]) -> bool:
    """Check whether cells are column numbers, as in ``id,0,1,2``."""
    return bool(cells) and [*cells] in [[str(i + start) for i in range(len(cells))] for start in (0, 1)]
