"""METHODS: all that a user picks by name, the family and every other system, in one plain table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from graphprox.baselines.arvga import ARVGA
from graphprox.baselines.barlow_twins import BarlowTwins
from graphprox.baselines.base import DEFAULT, About, Baseline
from graphprox.baselines.bgrl import BGRL
from graphprox.baselines.cca_ssg import CCASSG
from graphprox.baselines.deepwalk import DeepWalk
from graphprox.baselines.dgi import DGI
from graphprox.baselines.floor import RawFeatures, SmoothedFeatures
from graphprox.baselines.gae import GAE, VGAE
from graphprox.baselines.gat import GAT
from graphprox.baselines.gcn import GCN
from graphprox.baselines.geom_gcn import GeomGCN
from graphprox.baselines.gmi import GMI, GMIMean
from graphprox.baselines.graphmae import GraphMAE
from graphprox.baselines.jknet import JKNet
from graphprox.baselines.line import LINE
from graphprox.baselines.mvgrl import MVGRL
from graphprox.baselines.node2vec import Node2Vec
from graphprox.baselines.sgc import SGC
from graphprox.baselines.verse import VERSE
from graphprox.errors import ParameterError
from graphprox.methods.embedders import Classifier, Embedder, Maker, Trained
from graphprox.methods.family import AUTO, FAMILY, preset_names, recipe_for
from graphprox.training.tables import did_you_mean

UNTRAINED = "untrained"
# A baseline is a file of its own, and a line here.
BASELINES: dict[str, type[Baseline]] = {
    "raw": RawFeatures,
    "smoothed": SmoothedFeatures,
    "deepwalk": DeepWalk,
    "node2vec": Node2Vec,
    "line": LINE,
    "verse": VERSE,
    "gae": GAE,
    "vgae": VGAE,
    "arvga": ARVGA,
    "dgi": DGI,
    "mvgrl": MVGRL,
    "gmi-adaptive": GMI,
    "gmi-mean": GMIMean,
    "cca-ssg": CCASSG,
    "bgrl": BGRL,
    "barlow-twins": BarlowTwins,
    "graphmae": GraphMAE,
    "gcn": GCN,
    "gat": GAT,
    "sgc": SGC,
    "jk-net": JKNet,
    "geom-gcn-p": GeomGCN,
}


@dataclass(frozen=True)
class Method:
    """A method by its name: what it is, for which data sets it has settings, and what makes it.

    >>> METHODS["dgi"].about.group
    'contrast'
    """

    name: str
    about: About
    presets: tuple[str, ...]
    make: Callable[[str, Mapping[str, Any]], Maker]  # from a preset and overrides

    @property
    def goes_step_by_step(self) -> bool:
        """Whether its training can be looked at, stopped and gone on with, as that of FT-GCL and its kin."""
        return self.name in FAMILY


def _of_family(name: str) -> Method:
    known = FAMILY[name]
    about = About(known.title, known.group, "AX", known.paper, known.summary)
    return Method(name, about, preset_names(name), partial(_trained, name))


def _trained(name: str, preset: str, overrides: Mapping[str, Any]) -> Trained:
    return Trained(recipe_for(name, preset=preset, overrides=overrides))


def _untrained(preset: str, overrides: Mapping[str, Any]) -> Trained:
    return _trained("ft-gcl", preset, {**overrides, "steps": 0})


def _of_baseline(name: str, kind: type[Baseline]) -> Method:
    presets = tuple(dict.fromkeys([DEFAULT, *kind.presets]))
    return Method(name, kind.about, presets, partial(_configured, kind))


def _configured(kind: type[Baseline], preset: str, overrides: Mapping[str, Any]) -> Maker:
    made = kind.with_settings(preset, overrides)
    assert isinstance(made, Embedder | Classifier)  # noqa: S101 - as all subclasses are
    return made


_UNTRAINED = Method(
    UNTRAINED,
    About("Untrained encoder", "floor", "AX", "", "FT-GCL's encoder as it is drawn"),
    preset_names("ft-gcl"),
    _untrained,
)
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        **{name: _of_baseline(name, kind) for name, kind in BASELINES.items() if kind.about.group == "floor"},
        UNTRAINED: _UNTRAINED,
        **{name: _of_baseline(name, kind) for name, kind in BASELINES.items() if kind.about.group != "floor"},
        **{name: _of_family(name) for name in FAMILY},
    }
)


def method_for(
    name: str, *, dataset: str | None = None, preset: str = AUTO, overrides: Mapping[str, Any] | None = None
) -> Maker:
    """The method of a name, with the settings for a data set and whatever is overridden.

    >>> method_for("smoothed").settings
    {'steps': 2}
    >>> method_for("untrained", dataset="Cora").settings["steps"]
    0
    """
    method = method_named(name)
    if preset == AUTO:
        preset = dataset if dataset is not None and dataset in method.presets else DEFAULT
    if preset not in method.presets:
        hint = did_you_mean(preset, [AUTO, *method.presets])
        raise ParameterError(f"{method.about.title} has no preset {preset!r}; {hint}")
    return method.make(preset, overrides or {})


def method_named(name: str) -> Method:
    """The method of a name, in lower case or not, with hyphens or underscores."""
    plain = name.lower().replace("_", "-")
    if plain not in METHODS:
        raise ParameterError(f"a method must be a known one; got {name!r}: {did_you_mean(plain, METHODS)}")
    return METHODS[plain]
