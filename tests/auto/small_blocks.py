"""Blocks so small that a graph of a few hundred nodes has several, with its rows in files."""

from __future__ import annotations

from graphprox.auto import row_store


def make_small_blocks(monkeypatch):
    monkeypatch.setattr(row_store, "ONE_BLOCK", 10)
    monkeypatch.setattr(row_store, "BLOCK_ROWS", 97)
    monkeypatch.setattr(row_store, "MEMORY_BYTES", 0)
    monkeypatch.setattr(row_store, "PANEL_BYTES", 1 << 15)
