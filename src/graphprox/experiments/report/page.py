"""The page docs/reproduction.md: every experiment in its order, how to read it and how to run it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from graphprox.experiments.report.below import below_the_paper, what_was_tried
from graphprox.experiments.report.costs import cost_table
from graphprox.experiments.report.findings import Findings
from graphprox.experiments.report.numbers import anchor, counted
from graphprox.experiments.report.sections import Section
from graphprox.experiments.report.table import as_markdown
from graphprox.experiments.report.words import AGAIN, INTRODUCTION, LEGEND, MADE_BY, NOTHING, TITLE


def page(sections: Sequence[Section]) -> str:
    """The whole page."""
    made = f"<!-- Made by `{MADE_BY}` from experiments/ and results/: change those, not this page. -->"
    if not any(section.findings.records for section in sections):
        return "\n\n".join([made, f"# {TITLE}", NOTHING]) + "\n"
    parts = [
        made,
        f"# {TITLE}",
        INTRODUCTION,
        _contents(sections),
        "## How to read the tables",
        LEGEND,
        "## How to run a row again",
        AGAIN,
        *(section_text(section) for section in sections),
        "## Below the paper",
        below_the_paper(sections),
        *what_was_tried(sections),
        "## Versions",
        _versions(sections),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def tables_text(section: Section) -> str:
    """The tables of one experiment as a file of their own."""
    experiment = section.findings.experiment
    made = f"<!-- Made by `{MADE_BY} {experiment.name}`: change experiments/{experiment.name}.toml, not this file. -->"
    parts = [made, f"# {experiment.title}", *map(as_markdown, section.tables), *_costs(section)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


# -- one experiment -------------------------------------------------------------------------------------------------


def section_text(section: Section) -> str:
    """An experiment: what it is, its tables and its figure, what it cost, and how to run it again."""
    findings = section.findings
    experiment = findings.experiment
    parts = [f"## {experiment.title}", experiment.about.strip(), *_unused(findings)]
    if not findings.records:
        parts.append(f"Not run yet: `graphprox run experiments/{experiment.name}.toml`.")
        return "\n\n".join(filter(None, parts))
    if section.figure is not None:
        parts.append(f"![{experiment.title}](figures/{experiment.name}.svg)")
    tables = [as_markdown(table).rstrip("\n") for table in section.tables]
    parts += [_folded("Its numbers", tables)] if section.figure is not None and tables else tables
    costs = _costs(section)
    parts += [_folded("What it cost", costs)] if costs else []
    parts.append(_folded("Run a row again", [_commands(findings)]))
    if section.listing:
        kinds = [f"[{kind}](tables/{experiment.name}.{ending})" for kind, ending in (("CSV", "csv"), ("LaTeX", "tex"))]
        parts.append(f"The same as {' and '.join(kinds)}.")
    return "\n\n".join(filter(None, parts))


def _costs(section: Section) -> list[str]:
    table = cost_table(section.findings)
    return [] if table is None else [as_markdown(table).rstrip("\n")]


def _commands(findings: Findings) -> str:
    return "\n".join(["```console", *(f"$ {command}" for command in findings.commands.values()), "```"])


def _folded(title: str, parts: Sequence[str]) -> str:
    return "\n\n".join([f"<details><summary>{title}</summary>", *parts, "</details>"])


def _unused(findings: Findings) -> list[str]:
    """A line that counts and names the records that were not used."""
    if not findings.unused:
        return []
    folders = Counter(path.parent.as_posix() for path in findings.unused)
    named = ", ".join(f"`{folder}` ({count})" for folder, count in folders.items())
    count = len(findings.unused)
    were = f"{counted(count, 'record')} {'was' if count == 1 else 'were'}"
    return [f"{were} measured with other settings than today's, and not used: {named}."]


# -- all of them ----------------------------------------------------------------------------------------------------


def _contents(sections: Sequence[Section]) -> str:
    lines = ["| experiment | shows | records |", "|---|---|---|"]
    for section in sections:
        experiment = section.findings.experiment
        done, wanted = len(section.findings.all_records), sum(section.findings.wanted.values())
        link = f"[{experiment.name}.toml](../experiments/{experiment.name}.toml)"
        lines.append(f"| {link} | [{experiment.title}](#{anchor(experiment.title)}) | {done:,} of {wanted:,} |")
    return "\n".join(lines)


def _versions(sections: Sequence[Section]) -> str:
    """The sets of versions with which records were measured, and how many with each."""
    records = [record for section in sections for record in section.findings.all_records]
    sets = Counter(tuple(record.versions.items()) for record in records)
    names = list(dict.fromkeys(name for versions in sets for name, _ in versions))
    lines = [f"| records | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for versions, count in sorted(sets.items(), key=lambda each: (-each[1], each[0])):
        with_version = dict(versions)
        lines.append(f"| {count:,} | {' | '.join(with_version.get(name, '') for name in names)} |")
    return "\n".join(lines)
