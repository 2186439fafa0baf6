"""Presets: settings of the FT-GCL family by data set, as fragments of recipes.

``presets.toml`` contains those selected by validation accuracy, ``paper_presets.toml`` those published in the paper,
such as ``"Cora-paper"``. Where FT-GCL has a preset by diffusion, that by graph convolutions is a preset as well, such
as ``"Cora-convolution"``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from graphprox._utils.toml import merge


def load_presets(*groups: str) -> Mapping[str, Mapping[str, Any]]:
    """Load the presets of one or more groups, each merged over the previous one.

    Parameters
    ----------
    *groups : str
        Tables of ``presets.toml``, such as ``"ft-gcl"``.

    Returns
    -------
    mapping of str to mapping
        Parts of recipes by the names of presets.

    Examples
    --------
    >>> load_presets("convolution", "ft-gcl")["Cora"]["epochs"]
    40
    """
    tables = [_groups()[group] for group in groups]
    names = dict.fromkeys(name for table in tables for name in table)
    merged: dict[str, dict[str, Any]] = {name: {} for name in names}
    for table in tables:
        for name, settings in table.items():
            merged[name] = merge(merged[name], settings)
    return MappingProxyType(merged)


CONVOLUTION = "-convolution"  # at the end of the name of a preset by graph convolutions


@cache
def _groups() -> dict[str, dict[str, Any]]:
    groups = _read("presets.toml")
    convolution, diffusion = groups["convolution"], groups["ft-gcl"]
    diffusion |= {f"{name}{CONVOLUTION}": convolution[name] for name in diffusion}
    convolution |= {f"{name}-paper": settings for name, settings in _read("paper_presets.toml").items()}
    return groups


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("graphprox.ftgcl").joinpath(name).read_text(encoding="utf-8"))
