"""The names that ``graphprox.evaluation`` exports."""

from __future__ import annotations

import subprocess
import sys

import pytest

from graphprox import evaluation


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="classification_scores"):
        _ = evaluation.classification_scores


def test_importing_the_package_imports_neither_torch_nor_scikit_learn():
    code = "import sys, graphprox.evaluation; print([each for each in ('torch', 'sklearn') if each in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
