"""Meaning of column names: ids, the two ends of an edge, weights and labels.

Names are compared by their words: ``user_id``, ``User ID``, ``userId`` and ``UserID`` are the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Common names of id columns, without separators: id, Node ID; source, from_node_id, node 1.
_ID_NAME = re.compile(r"(node|vertex|vertices|name|id)s?(id|name)?")
_ENDPOINT_NAME = re.compile(
    r"(u|v|head|tail|(from|to|source|target|destination|dest|src|dst|tgt)(node|vertex)?(id|name)?|(node|vertex|id)[12ab])"
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_JOINED_ID = re.compile(r"(.{3,})(id|uid)")  # customerid, without a separator


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ID_WORDS = _words("id ids uid guid uuid key name code no nr number identifier handle login")
_NODE_WORDS = _words("node nodes vertex vertices entity")
_ENTITIES = _NODE_WORDS | _words(
    "account actor airport artist author bank book brand business buyer callee caller channel citizen city client "
    "coauthor collaborator colleague company contact country customer device director disease doctor domain drug "
    "employee employer film firm followee follower following friend game gene group guest host institution item job "
    "journal landmark manager member merchant movie neighbor object organization owner page paper parent partner "
    "patient people person phone player post product profile project protein publication reader recipient receiver "
    "repo repository reviewer school seller sender server shop site song species station stop store student subject "
    "subscriber supplier tag teacher team term topic track tweet url user vendor viewer visitor voter website word "
    "worker"
)
# What a node may be to another one of the same kind.
_RELATIVES = _words(
    "author buyer callee caller child coauthor collaborator colleague contact employee followee follower following "
    "friend guest host manager member neighbor owner parent partner people person player profile reader receiver "
    "recipient reviewer seller sender subscriber user viewer visitor worker"
)
# Source and target of an edge, by the words that remain besides ids and entities.
_PAIRS = tuple(
    (_words(source), _words(target))
    for source, target in (
        ("source src", "target tgt dst dest destination trg"),
        ("from", "to"),
        ("origin orig", "destination dest"),
        ("start begin", "end stop"),
        ("head", "tail"),
        ("sender", "receiver recipient"),
        ("follower", "followee followed following"),
        ("caller", "callee"),
        ("citing", "cited"),
        ("parent", "child"),
        ("left", "right"),
        ("u", "v"),
        ("i", "j"),
        ("1", "2"),
        ("a", "b"),
    )
)
# What an edge may have of both its ends, and is no node: from_date and to_date.
_MEASURES = _words(
    "age amount at category class cost count date datetime day degree hour index kind label lat latitude lng lon "
    "longitude minute month port price rank score second size time timestamp type value week weight x y year"
)
_SUPERIORS = _words("parent manager supervisor boss superior leader chief")
_SHORT = _words("u v i j")
_NUMBERED = _words("1 2 a b left right start begin end stop")  # mean an end only after a noun
_KIN = _words("parent child")  # mean an end alone, or before an id; an edge has parent_height and child_height
_WEIGHT_NAMES = frozenset(("weight", "weights", "w", "edgeweight", "edgeweights"))
LABEL_NAMES = ("y", "label", "class")  # of attributes that are the label of a node, the first one that there is
_CLASS_WORDS = _words("label labels class classes target y")
_CLASS_KINDS = _words("actual class gold ground node true truth vertex")
_LABEL_WORDS = _words("label labels class classes y category community target")


def split_words(name: str) -> tuple[str, ...]:
    """Split a column name into its words, in lower case.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> split_words("FromNodeId"), split_words("user_id 1"), split_words("CustomerID")
    (('from', 'node', 'id'), ('user', 'id', '1'), ('customer', 'id'))
    """
    words = tuple(word.lower() for word in _WORD.findall(name))
    joined = _JOINED_ID.fullmatch(words[0]) if len(words) == 1 else None
    if joined and (joined[1] in _ENTITIES or any(joined[1] in side for pair in _PAIRS for side in pair)):
        return joined[1], joined[2]
    return words


def are_id_names(cells: Sequence[str]) -> bool:
    """Check whether cells are common names of id columns.

    Parameters
    ----------
    cells : sequence of str
        Names of one column of ids, or of the two columns of an edge list.

    Returns
    -------
    bool
    """
    plain = [re.sub(r"[#%_\s.-]", "", cell).lower() for cell in cells]
    patterns = (_ID_NAME,) if len(cells) == 1 else (_ID_NAME, _ENDPOINT_NAME)
    return bool(plain) and all(any(each.fullmatch(name) for each in patterns) for name in plain)


def is_node_id(name: str) -> bool:
    """Check whether a column is named as the id of a node: ``id``, ``node_id``, ``Node``.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    bool
    """
    words = set(split_words(name))
    return bool(words) and words <= _NODE_WORDS | {"id", "ids"}


def is_entity_id(name: str) -> bool:
    """Check whether a column is named as an id, as ``user_id``, ``Customer ID`` and ``node_id`` are.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    bool
    """
    words = split_words(name)
    return len(words) > 1 and words[-1] in ("id", "ids", "uid", "guid", "uuid", "key", "no", "nr", "number")


def is_id(name: str) -> bool:
    """Check whether the last word of a column's name is "id", which no number of a house or phone has.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    bool
    """
    return is_entity_id(name) and split_words(name)[-1] in ("id", "ids", "uid", "guid", "uuid")


def is_superior(name: str) -> bool:
    """Check whether a column refers to another row of its table, as ``manager_id`` and ``reports_to`` do.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_superior("Manager ID"), is_superior("reports_to"), is_superior("customer_id")
    (True, True, False)
    """
    words = tuple(word for word in split_words(name) if word not in _ID_WORDS)
    return words == ("reports", "to") or (len(words) == 1 and words[0] in _SUPERIORS)


def is_plain_name(name: str) -> bool:
    """Check whether a column is named as what people call a node, as ``name`` and ``Full Name`` are.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_plain_name("Full Name"), is_plain_name("user_id")
    (True, False)
    """
    return split_words(name)[-1:] == ("name",)


def is_entity(name: str) -> bool:
    """Check whether a column is named after what nodes often are, as ``user``, ``friend`` and ``product_id`` are.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    bool
    """
    words = split_words(name)
    return bool(words) and (words[-1] in _ENTITIES or is_entity_id(name) or set(words) <= _ID_WORDS | _ENTITIES)


def find_ends(names: Sequence[str]) -> tuple[int, int] | None:
    """Find the columns of the source and the target of edges by their names.

    Parameters
    ----------
    names : sequence of str
        Names of all columns.

    Returns
    -------
    tuple of int or None
        Positions of source and target; None if no pair of names is known.

    Examples
    --------
    >>> find_ends(["date", "weight", "target", "source"]), find_ends(["User 1", "User 2"]), find_ends(["a", "b"])
    ((3, 2), (0, 1), None)
    """
    ends = [_find_end(name) for name in names]
    for sources, targets in _PAIRS:
        found = [_best(names, [i for i, end in enumerate(ends) if end in side]) for side in (sources, targets)]
        if found[0] is not None and found[1] is not None:
            return found[0], found[1]
    return _find_ends_of_noun(names)


def _find_ends_of_noun(names: Sequence[str]) -> tuple[int, int] | None:
    """Find two columns whose names differ in the end alone, as ``source_ip`` and ``target_ip``, of any noun."""
    for pair in _PAIRS:
        sources, targets = (_find_nouns(names, side - _NUMBERED - _KIN - _SHORT) for side in pair)
        noun = next((noun for noun in sources if noun in targets), None)
        if noun is not None:
            return sources[noun], targets[noun]
    return None


def _find_nouns(names: Sequence[str], side: frozenset[str]) -> dict[tuple[str, ...], int]:
    """Return the positions of columns by the words of their names besides one of ``side``."""
    found: dict[tuple[str, ...], int] = {}
    for i, name in enumerate(names):
        words = split_words(name)
        nouns = tuple(word for word in words if word not in side)
        if len(words) - len(nouns) == 1 and nouns and _MEASURES.isdisjoint(nouns):
            found.setdefault(nouns, i)
    return found


def _find_end(name: str) -> str | None:
    """Return the word that says which end of an edge a column contains: ``from`` of ``from_user_id``."""
    words = split_words(name)
    known = [word for word in words if any(word in side for pair in _PAIRS for side in pair)]
    others = [word for word in words if word not in known]
    if len(known) != 1 or not set(others) <= _ID_WORDS | _ENTITIES:
        return None
    if (known[0] in _NUMBERED and not others) or (known[0] in _SHORT and others):
        return None
    return known[0]


def _best(names: Sequence[str], positions: Sequence[int]) -> int | None:
    """Return the position of an id rather than of a name: ``source_id`` if there is ``source_name``."""
    return min(positions, key=lambda i: (split_words(names[i])[-1] == "name", i), default=None)


def are_different_kinds(first: str, second: str) -> bool:
    """Check whether two columns are named after different kinds of nodes, as ``customer_id`` and ``product_id`` are.

    Parameters
    ----------
    first, second : str
        Names of columns.

    Returns
    -------
    bool

    Examples
    --------
    >>> are_different_kinds("customer_id", "product_id"), are_different_kinds("user_id", "friend_id")
    (True, False)
    """
    kinds = [next((word for word in split_words(name) if word in _ENTITIES), None) for name in (first, second)]
    known = {kind for kind in kinds if kind is not None}
    return len(known) == 2 and find_ends([first, second]) is None and not known <= _RELATIVES


def is_weight(name: str) -> bool:
    """Check whether a column is named as the weight of edges.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    bool
    """
    return "".join(split_words(name)) in _WEIGHT_NAMES


def is_label(name: str) -> bool:
    """Check whether a column is named as the class of nodes: ``label``, ``true class``, ``Category``.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    bool
    """
    return not _LABEL_WORDS.isdisjoint(split_words(name)[-1:])


def is_class(name: str) -> bool:
    """Check whether a column is hardly anything but the label of nodes: ``label``, ``true_class``, no ``ticket class``.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_class("Topic Label"), is_class("true_class"), is_class("ticket class"), is_class("category")
    (True, True, False, False)
    """
    *others, last = split_words(name) or ("",)
    return last in ("label", "labels") or (last in _CLASS_WORDS and _CLASS_KINDS.issuperset(others))


def is_unnamed(name: str) -> bool:
    """Check whether a column has no name, as the index that pandas writes.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    bool
    """
    return not name.strip() or re.fullmatch(r"Unnamed: \d+(_level_\d+)?|__index_level_\d+__", name) is not None
