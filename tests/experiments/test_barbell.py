from __future__ import annotations

import builtins

import numpy as np
import pytest

from graphprox import WriteError
from graphprox.experiments.barbell import barbell, draw_barbell, in_the_plane, structure_classes
from graphprox.proximity import topology


def test_nodes_of_equal_structure_coincide():
    vectors = topology(barbell(), np.random.default_rng(0), subgraphs="egonet", hops=1, exact=True)
    classes = structure_classes(vectors)
    clique, joint, bridge = classes[0], classes[5], classes[6]
    assert len({clique, joint, bridge}) == 3
    assert classes.tolist() == [*[clique] * 5, joint, bridge, bridge, joint, *[clique] * 5]
    plane = in_the_plane(vectors)
    assert len(np.unique(plane, axis=0)) == 3


def test_the_figure_is_drawn_twice(tmp_path):
    png, svg = draw_barbell(tmp_path)
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<svg" in svg.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["barbell.png", "barbell.svg"]


def test_without_matplotlib_one_is_told_what_to_install(tmp_path, monkeypatch):
    imported = builtins.__import__

    def refuse(name, *arguments, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return imported(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(WriteError, match=r"pip install 'graphprox\[plots\]'"):
        draw_barbell(tmp_path)
