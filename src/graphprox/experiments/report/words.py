"""Words: what the page says in any case, whatever was measured."""

from __future__ import annotations

from graphprox.experiments.report.layouts import PAPER_ONLY
from graphprox.experiments.report.table import STAR

MADE_BY = "graphprox report"
TITLE = "The paper's tables and figures, made again"
INTRODUCTION = f"""\
Every measured number on this page is put there by `{MADE_BY}` from the records in [results/](../results), one for each
training; none is typed. The paper's own figures are those of [paper.toml](../experiments/paper.toml)."""
NOTHING = f"""\
There are no records yet, so there is nothing to show. `graphprox run experiments/NAME.toml` measures what an experiment
declares and keeps a record of each training; `{MADE_BY}` makes this page of them."""
LEGEND = f"""\
- 84.21 ± 0.90 is a mean and the standard deviation over all trainings and all splits, in percent. Nothing follows the
  mean where there is one value alone, or all are the same.
- Small below it: the paper's figure for the same method, data set and metric, and ours less the paper's; in a table of
  variants the difference from the first of them, the base.
- **Bold** is the best of a column and _slanted_ the second best, among the rows that were run here.
- {STAR}: the row differs from the one that is named below the table. Means over trainings are compared split by split
  by a paired t-test, p < 0.05 after Holm's correction for all rows of the column; on fewer than five splits nothing is
  tested. Splits of one graph overlap, so that the test is more easily convinced than it should be.
- A table's last line of figures tells the rank of FT-GCL among the rows that were run here, by their means; FT-GCL
  with other settings stands aside.
- "3 of 10 trainings" stands where not all of them have a record. Rows in which chance plays no part have one.
  What learns from labels is trained anew on each split, as all methods are to predict links: one training is then one
  on each of them.
- _{PAPER_ONLY}_: methods of which the paper has figures and this page has none of its own.
- What was chosen where: the penalty of a probe on the validation nodes of each split; the settings of each method on
  validation nodes of other splits than those reported on, as
  [presets.toml](../src/graphprox/methods/presets.toml) tells. No test node of a split chooses anything within it; but
  all splits are of the same nodes, so that one by which settings were chosen may be tested on in another. Variants are
  compared on validation nodes alone."""
AGAIN = """\
```console
$ graphprox run experiments/NAME.toml --only DATASET --row ROW          # measures what has no record yet
$ graphprox run experiments/NAME.toml --only DATASET --row ROW --check  # measures again what has one, and compares
$ graphprox report                                                      # makes this page, all tables and figures
```

Data sets are downloaded, or read from the folder that `--data` or GRAPHPROX_DATA names. The commands of all rows stand
below each table. Where a setting has changed since, the record no longer holds: it is counted, but not used."""
