"""All stages of sharding, from open tables to the parts of a graph folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from graphprox.errors import GraphError
from graphprox.io.edge_lists import warn_of_merged
from graphprox.io.folder.create import check_num_parts
from graphprox.io.folder.description import Description, FeatureRecord, Ids, PartRecord
from graphprox.io.folder.folder_graph import folder_checksum
from graphprox.io.folder.graph_part import GraphPart
from graphprox.io.folder.part_files import describe_part, split_rows
from graphprox.io.joins import report_missing, report_unknown
from graphprox.io.sharding import edge_stage, feature_stage, label_stage
from graphprox.io.sharding.entries import EntryFile
from graphprox.io.sharding.feature_source import FeatureLayout, FeatureSource
from graphprox.io.sharding.feature_stage import FeatureWriter
from graphprox.io.sharding.id_files import IdFile
from graphprox.io.sharding.journal import Journal
from graphprox.io.sharding.label_stage import LabelSource
from graphprox.io.sharding.numbering import NODES, IdSources, NodeCounts, number_all_ids
from graphprox.io.sharding.part_stage import (
    part_folder,
    write_entries_of_part,
    write_ids_of_part,
    write_labels_of_part,
)
from graphprox.io.sharding.table_stream import RereadError, TableStream
from graphprox.io.sharding.workspace import BlockSizes, Workspace
from graphprox.io.storage.files import flush_folder

MODES, PARTS, CHECKSUM = "modes", "parts", "checksum"  # steps of the journal
_UNKNOWN = "0" * 64


@dataclass(frozen=True)
class Tables:
    """What a graph is made of.

    Parameters
    ----------
    edges : TableStream
    features : FeatureSource or None
    labels : LabelSource or None
    """

    edges: TableStream
    features: FeatureSource | None = None
    labels: LabelSource | None = None

    def modes(self) -> dict[str, str]:
        """Return how the tables are read."""
        found = {"edges": self.edges.mode}
        return found if self.features is None else {**found, "features": self.features.mode}

    def adapt(self, modes: Mapping[str, str]) -> None:
        """Read the tables as an earlier process has found out that they must be."""
        self.edges.adapt(modes["edges"])
        if self.features is not None:
            self.features.adapt(modes["features"])


def build_parts(
    folder: Path,
    tables: Tables,
    run: Mapping[str, Any],
    *,
    num_parts: int,
    directed: bool,
    sizes: BlockSizes,
    resume: bool,
) -> tuple[Description, list[Path]]:
    """Write the parts of a graph.

    Parameters
    ----------
    folder : Path
        The working folder.
    tables : Tables
    run : mapping of str to object
        What the result depends on.
    num_parts : int
    directed : bool
    sizes : BlockSizes
    resume : bool
        Whether what an earlier process has left in the working folder is used.

    Returns
    -------
    about : Description
    parts : list of Path
        Folder of each part, in the working folder.
    """
    journal = Journal(folder, run, resume=resume)
    modes = journal.find(MODES)
    if modes is None:
        journal = _start(folder, run, tables)
    else:
        tables.adapt(modes["modes"])
    while True:
        try:
            return _Build(Workspace(folder, journal, sizes), tables, num_parts, directed).run()
        except RereadError:
            journal = _start(folder, run, tables)


def _start(folder: Path, run: Mapping[str, Any], tables: Tables) -> Journal:
    """Empty the working folder, and begin a journal."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    journal = Journal(folder, run, resume=False)
    journal.record(MODES, modes=tables.modes())
    return journal


class _Build:
    """A run through all stages, of which those that are done already are skipped."""

    def __init__(self, work: Workspace, tables: Tables, num_parts: int, directed: bool) -> None:
        self._work, self._tables = work, tables
        self._num_parts, self._directed = num_parts, directed

    def run(self) -> tuple[Description, list[Path]]:
        """Run the stages."""
        counts = self._counts
        self._report(counts)
        if counts.num_nodes < 2:
            raise GraphError(f"a graph must have at least two nodes; got {counts.num_nodes}")
        check_num_parts(self._num_parts, counts.num_nodes)
        _ = self._layout  # columns that are no features are an error before edges are sorted
        records = self._write_parts(split_rows(counts.num_nodes, self._num_parts))
        about = self._describe(records)
        return about, [self._work.folder / record.folder for record in about.parts]

    # -- ids -------------------------------------------------------------------------------------------------------

    @cached_property
    def _num_known(self) -> int:
        """Number of rows of features."""
        features = self._tables.features
        return 0 if features is None else feature_stage.scan_features(self._work, features)

    @cached_property
    def _is_text(self) -> bool:
        """Whether ids are compared as strings: those of edges or of features are."""
        features = self._tables.features
        as_text = self._num_known > 0 and features is not None and not features.is_integer
        is_text = edge_stage.read_edges(self._work, self._tables.edges, as_text=as_text)
        if is_text and features is not None and features.is_integer:
            feature_stage.sort_as_text(self._work, features)
        return is_text

    @cached_property
    def _counts(self) -> NodeCounts:
        work, features, labels = self._work, self._tables.features, self._tables.labels
        is_text = self._is_text
        label_files = []
        if labels is not None:
            label_files = label_stage.read_labels_in_blocks(work, labels, is_text=is_text)
        known = None
        if features is not None:
            known = work.id_files(feature_stage.STEP, feature_stage.IDS, is_text=is_text)
        sources = IdSources(
            edges=work.id_files(edge_stage.EDGES, edge_stage.IDS, is_text=is_text),
            features=known,
            labels=label_files,
            num_known=self._num_known,
            names=("" if features is None else features.name, "" if labels is None else labels.name),
        )
        return number_all_ids(work, sources, is_text=is_text, has_kinds=self._edge_facts["has_kinds"])

    @property
    def _edge_facts(self) -> dict[str, Any]:
        return self._work.journal.find(edge_stage.EDGES, 0) or {}

    def _report(self, counts: NodeCounts) -> None:
        """Warn about ids that only some of the tables have."""
        edges, features, labels = self._tables.edges, self._tables.features, self._tables.labels
        if counts.num_common:
            warn_of_merged(edges.path, edges.names or (), counts.num_common, counts.common[0])
        if counts.num_missing and features is not None:
            names = edges.path, features.name
            known = self._first_ids(as_text=self._is_text)
            report_missing(counts.missing, counts.num_missing, counts.num_ends, known, names)
        if labels is None:
            return
        journal = self._work.journal
        facts = [journal.find(label_stage.LABELS, i) or {} for i in range(journal.count(label_stage.LABELS))]
        unknown = counts.num_unknown + sum(each["dropped"] for each in facts)
        examples = [*counts.unknown, *(each["example"] for each in facts if each["dropped"])]
        if facts and facts[0]["has_integers"]:  # which were compared as strings
            examples = [int(each) for each in examples]
        known = self._first_ids(as_text=self._kind_of_ids == "strings")
        report_unknown(examples[:3], unknown, sum(each["rows"] for each in facts), known, labels.name)

    def _first_ids(self, *, as_text: bool) -> list[object]:
        """Return the ids of the first nodes, for messages."""
        found = [each for file in self._id_sources for each in file.read(0, 3).to_pylist()][:3]
        return [str(each) for each in found] if as_text else found

    @cached_property
    def _id_sources(self) -> list[IdFile]:
        """Ids of all nodes in their order."""
        features, counts = self._tables.features, self._counts
        known = [] if features is None else feature_stage.row_ids(self._work, features)
        return [*known, IdFile(self._work.path(NODES), self._is_text, counts.num_nodes - self._num_known)]

    @cached_property
    def _kind_of_ids(self) -> Ids:
        features, counts = self._tables.features, self._counts
        if features is None:
            return "rows" if counts.is_range else "strings" if self._is_text else "integers"
        if not features.is_integer or (self._is_text and counts.num_missing):
            return "strings"
        return "rows" if self._are_rows() else "integers"

    def _are_rows(self) -> bool:
        """Return whether the ids of all nodes are their numbers."""
        start = 0
        for source in self._id_sources:
            for block in source.blocks(self._work.sizes.rows):
                if not np.array_equal(block.to_numpy(), np.arange(start, start + len(block))):
                    return False
                start += len(block)
        return True

    # -- parts -----------------------------------------------------------------------------------------------------

    @cached_property
    def _layout(self) -> FeatureLayout | None:
        features = self._tables.features
        if features is None:
            return None
        return features.finish(feature_stage.read_facts(self._work), self._counts.num_missing)

    def _write_parts(self, ranges: list[range]) -> list[PartRecord]:
        """Write the parts that are not written yet."""
        work, counts, features = self._work, self._counts, self._tables.features
        done = work.journal.count(PARTS)
        if done < len(ranges):
            entries = edge_stage.write_all_entries(work, num_nodes=counts.num_nodes, directed=self._directed)
            pairs = None if self._tables.labels is None else label_stage.write_pairs(work)
            writer = None
            if features is not None and self._layout is not None:
                first = ranges[done].start
                writer = FeatureWriter(work, features, self._layout, self._num_known, counts.num_nodes, first)
            for part in range(done, len(ranges)):
                self._write_part(part, ranges[part], entries, pairs, writer)
        facts = [work.journal.find(PARTS, part) or {} for part in range(len(ranges))]
        return [PartRecord.model_validate_json(json.dumps(each["record"])) for each in facts]

    def _write_part(
        self,
        part: int,
        rows: range,
        entries: tuple[list[EntryFile], list[EntryFile]],
        pairs: label_stage.Pairs | None,
        writer: FeatureWriter | None,
    ) -> None:
        work, num_nodes = self._work, self._counts.num_nodes
        folder = part_folder(work, part)
        counts = write_entries_of_part(work, folder, rows, *entries, num_nodes=num_nodes)
        num_values = 0 if writer is None else writer.write(folder, rows)
        if pairs is not None:
            write_labels_of_part(work, folder, rows, pairs.files, pairs.y)
        if self._kind_of_ids != "rows":
            is_text = self._kind_of_ids == "strings"
            write_ids_of_part(folder, rows, self._id_sources, size=work.sizes.rows, is_text=is_text)
        flush_folder(folder)
        record = describe_part(folder, part, rows, num_entries=counts.num_entries, num_values=num_values)
        target = work.folder / record.folder
        shutil.rmtree(target, ignore_errors=True)  # which a killed process has left
        folder.rename(target)
        flush_folder(work.folder)
        facts = {"record": record.model_dump(mode="json"), "num_listed": counts.num_listed}
        if pairs is not None:
            facts["class_names"] = pairs.class_names if part == 0 else None
        work.journal.record(PARTS, part, **facts)

    def _describe(self, records: list[PartRecord]) -> Description:
        journal, layout = self._work.journal, self._layout
        facts = [journal.find(PARTS, part) or {} for part in range(len(records))]
        num_edges = (journal.find(f"{edge_stage.EDGES} read") or {})["edges"]
        names = facts[0].get("class_names")
        about = Description(
            num_nodes=self._counts.num_nodes,
            num_entries=sum(record.num_entries for record in records),
            directed=self._directed,
            duplicates=num_edges - sum(each["num_listed"] for each in facts),
            has_weights=self._edge_facts["has_weights"],
            features=None
            if layout is None
            else FeatureRecord(
                num_features=layout.num_features,
                is_sparse=layout.is_sparse,
                names=layout.names,
                encoder=layout.encoder,
            ),
            has_labels=self._tables.labels is not None,
            class_names=None if names is None else tuple(names),
            ids=self._kind_of_ids,
            graph_checksum=_UNKNOWN,
            parts=tuple(records),
        )
        found = journal.find(CHECKSUM)
        if found is None:
            self._work.report("computing checksums", 0)
            parts = tuple(GraphPart(self._work.folder, part, about) for part in range(len(records)))
            found = journal.record(CHECKSUM, checksum=folder_checksum(about, parts))
        return about.model_copy(update={"graph_checksum": found["checksum"]})
