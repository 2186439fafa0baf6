"""Numbers of nodes: every id of the edges, features and labels gets the number that it has in `read_graph`.

Nodes are in the order of the features, followed by those of edges that have none, sorted; without features, all are
sorted. The files of ids are merged once, and the numbers of the ids of a file are written in its order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray
from graphprox.errors import ReadError
from graphprox.io.attributes import KEEP_ONE, SEVERAL_GROUPS
from graphprox.io.folder.create import check_limit
from graphprox.io.sharding.edge_stage import NUMBERS, ROLES, SOURCE, TARGET
from graphprox.io.sharding.id_files import IdFile, IdWriter, flush, read_raw
from graphprox.io.sharding.id_merge import Step, merge_ids
from graphprox.io.sharding.workspace import Workspace

NODES = "nodes"  # step of the journal, and the ids that are found here
POSITIONS = "feature-positions"
LABEL_NUMBERS = "label-numbers"
_EXAMPLES = 3


@dataclass
class NodeCounts:
    """What is known of the nodes after they have been numbered.

    Attributes
    ----------
    num_nodes : int
    num_ends : int
        Number of nodes that have edges.
    num_missing : int
        Number of those without a row of features; these come last.
    num_unknown : int
        Number of labels of no node.
    num_common : int
        Number of ids that occur as source and as target, if these are nodes of different kinds.
    is_range : bool
        Whether ids are the numbers of their nodes.
    missing, unknown, common : list
        Examples of ids: of nodes without features, of labels of no node, and of nodes of both kinds.
    """

    num_nodes: int = 0
    num_ends: int = 0
    num_missing: int = 0
    num_unknown: int = 0
    num_common: int = 0
    is_range: bool = True
    missing: list[Any] = field(default_factory=list)
    unknown: list[Any] = field(default_factory=list)
    common: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class IdSources:
    """Sorted files of ids, all integers or all strings.

    Attributes
    ----------
    edges, labels : sequence of IdFile
        Files that get numbers.
    features : sequence of IdFile or None
        Ids of the rows of features; None if there are none.
    num_known : int
        Number of rows of features.
    names : tuple of str
        The tables of features and labels, for messages.
    """

    edges: Sequence[IdFile]
    features: Sequence[IdFile] | None
    labels: Sequence[IdFile]
    num_known: int
    names: tuple[str, str]


def number_all_ids(work: Workspace, sources: IdSources, *, is_text: bool, has_kinds: bool) -> NodeCounts:
    """Number the nodes, and write the number of every id.

    Parameters
    ----------
    work : Workspace
    sources : IdSources
    is_text : bool
        Whether ids are strings.
    has_kinds : bool
        Whether the files of edges have roles.

    Returns
    -------
    NodeCounts
        New ids are in the file `NODES`: all ids without features, and else those that have none.
    """
    finished = work.journal.find(NODES)
    if finished is not None:
        return NodeCounts(**finished)
    numbering = _Numbering(work, sources, has_kinds=has_kinds)
    total = sum(file.size for file in numbering.files)
    done = 0
    with IdWriter(work.path(NODES), is_text=is_text) as writer:
        for step in merge_ids(numbering.files, memory=work.sizes.ids):
            work.report("numbering nodes", done, total)
            writer.append(numbering.add(step))
            done += sum(len(piece.codes) for piece in step.pieces)
    counts = numbering.finish()
    check_limit(counts.num_nodes)
    work.journal.record(NODES, **asdict(counts))
    for file in numbering.files:
        file.remove()
    return counts


class _Numbering:
    """Numbers of the ids of a merge, step by step."""

    def __init__(self, work: Workspace, sources: IdSources, *, has_kinds: bool) -> None:
        self._work, self._sources, self._has_kinds = work, sources, has_kinds
        self._features = sources.features or ()
        self.files = [*sources.edges, *self._features, *sources.labels]
        self._counts = NodeCounts(num_nodes=sources.num_known)
        outputs = [work.path(NUMBERS, i) for i in range(len(sources.edges))]
        self._outputs = {
            **dict(enumerate(outputs)),
            **{len(outputs) + len(self._features) + i: work.path(LABEL_NUMBERS, i) for i in range(len(sources.labels))},
        }
        for path in self._outputs.values():
            path.write_bytes(b"")

    def add(self, step: Step) -> pa.Array:
        """Number the ids of a step, write the numbers, and return the ids that are new."""
        counts = self._counts
        is_end, is_label = np.zeros((2, len(step.ids)), bool)
        number = np.full(len(step.ids), -1, np.int64)
        first_label = len(self._sources.edges) + len(self._features)
        for piece in step.pieces:
            if piece.file < len(self._sources.edges):
                is_end[piece.codes] = True
            elif piece.file < first_label:
                self._take_positions(step.ids, number, piece.file, piece.start, piece.codes)
            else:
                self._check_label(step.ids, is_label, piece.codes)
                is_label[piece.codes] = True
        new = is_end & (number < 0)
        number[new] = counts.num_nodes + np.arange(np.count_nonzero(new))
        ids = step.ids.filter(pa.array(new))
        if self._sources.features is None:
            counts.is_range &= _is_range(ids, counts.num_nodes)
        else:
            counts.num_missing += len(ids)
            _add_examples(counts.missing, ids)
        counts.num_nodes += len(ids)
        counts.num_ends += int(np.count_nonzero(is_end))
        unknown = step.ids.filter(pa.array(is_label & (number < 0)))
        counts.num_unknown += len(unknown)
        _add_examples(counts.unknown, unknown)
        self._count_common(step)
        self._write(step, number)
        return ids

    def finish(self) -> NodeCounts:
        """Flush the numbers to disk, and return what is known of the nodes."""
        for path in self._outputs.values():
            with path.open("ab") as file:
                flush(file)
        return self._counts

    def _take_positions(self, ids: pa.Array, number: IntArray, file: int, start: int, codes: NDArray[np.int32]) -> None:
        """Number ids by the positions of their rows of features."""
        path = self._work.path(POSITIONS, file - len(self._sources.edges))
        repeated = codes[number[codes] >= 0]
        if len(repeated):
            raise ReadError(describe_repeated_features(self._sources.names[0], ids[int(repeated[0])].as_py()))
        number[codes] = read_raw(path, np.int64, start, start + len(codes))

    def _check_label(self, ids: pa.Array, is_label: NDArray[np.bool_], codes: NDArray[np.int32]) -> None:
        repeated = codes[is_label[codes]]
        if len(repeated):
            raise ReadError(describe_repeated_labels(self._sources.names[1], ids[int(repeated[0])].as_py()))

    def _count_common(self, step: Step) -> None:
        """Count ids that occur as source and as target."""
        if not self._has_kinds:
            return
        roles = np.zeros(len(step.ids), np.uint8)
        for piece in step.pieces:
            if piece.file < len(self._sources.edges):
                path = self._work.path(ROLES, piece.file)
                roles[piece.codes] |= read_raw(path, np.uint8, piece.start, piece.start + len(piece.codes))
        common = step.ids.filter(pa.array(roles == SOURCE | TARGET))
        self._counts.num_common += len(common)
        _add_examples(self._counts.common, common)

    def _write(self, step: Step, number: IntArray) -> None:
        for piece in step.pieces:
            if piece.file in self._outputs:
                with self._outputs[piece.file].open("ab") as file:
                    file.write(number[piece.codes].astype(np.int32).data)


def _is_range(ids: pa.Array, start: int) -> bool:
    if not pa.types.is_integer(ids.type):
        return False
    numbers = ids.to_numpy(zero_copy_only=False)
    return np.array_equal(numbers, np.arange(start, start + len(numbers)))


def _add_examples(examples: list[Any], ids: pa.Array) -> None:
    examples.extend(ids[: _EXAMPLES - len(examples)].to_pylist())


def describe_repeated_features(table: str, node: object) -> str:
    """Return the message of an error about a node with several rows of features."""
    return f"a node must have one row of features; {table} has several for {node!r}{KEEP_ONE}"


def describe_repeated_labels(table: str, node: object) -> str:
    """Return the message of an error about a node with several labels."""
    return f"a node must have one label; {table} has several for {node!r}{SEVERAL_GROUPS}"
