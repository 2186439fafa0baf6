"""The paper's tables and figures: experiments, their records, and the report made from them.

    experiments/NAME.toml ─► Experiment ─► Trial ─► Record in records/NAME.jsonl ─► tables, figures, pages

This package is not part of the wheel; run it from a clone of the repository with ``python -m reproduction``.
"""
