"""scikit-learn's own checks of estimators, over all methods."""

from __future__ import annotations

import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from contracts.small import EMBEDDERS, small
from graphprox.methods import METHODS, NodeClassifier

# Methods are as small as possible, so that the checks take a minute instead of an hour.
TINY = {"epochs": 1, "n_components": 2, "hidden_channels": 2, "head_channels": 2, "head_layers": 1, "heads": 1}
LEARNING = {"epochs": 60, "hidden_channels": 16, "heads": 2}  # of a classifier, which is checked for its accuracy


def tiny(name):
    known = METHODS[name].parameters()
    sizes = LEARNING if issubclass(METHODS[name], NodeClassifier) else TINY
    changes = {each: value for each, value in sizes.items() if each in known}
    if name == "untrained":
        del changes["epochs"]
    return small(name, **changes)


def expected_failures(estimator):
    """Checks that a method cannot pass, and why."""
    if isinstance(estimator, NodeClassifier):
        failures = {
            "check_fit_score_takes_y": "the second argument is called split",
            "check_n_features_in_after_fitting": "it passes labels to score by keyword",
            "check_classifiers_classes": "it has a class -1, which means unlabeled here",
        }
        if estimator.name == "geom-gcn-p":
            reason = "it is transductive: its hyperbolic embedding is specific to the fitted graph"
            checks = ("methods_subset_invariance", "methods_sample_order_invariance", "fit_idempotent")
            failures |= {f"check_{check}": reason for check in checks}
        return failures
    return {}


# One of each kind; the others share their code, and are checked by make test-slow. Those with compiled code come last:
# another process, which runs the contracts of methods at the same time, has then compiled and cached it.
QUICK = [
    name for name in ("raw", "smoothed", "gae", "dgi", "bgrl", "gcn", "grace", "deepwalk", "ft-gcl") if name in METHODS
]
SLOW = [name for name in METHODS if name not in QUICK]


@parametrize_with_checks([tiny(name) for name in QUICK], expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore::graphprox.CollapsedEmbeddingWarning")  # two channels collapse easily
def test_scikit_learn_accepts_the_estimator(estimator, check):
    assert check(estimator) is None  # it raises otherwise


@pytest.mark.slow
@parametrize_with_checks([tiny(name) for name in SLOW], expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore::graphprox.CollapsedEmbeddingWarning")
def test_scikit_learn_accepts_the_other_estimators(estimator, check):
    assert check(estimator) is None  # it raises otherwise


# Checks of its own estimators that scikit-learn does not run on others.
@pytest.mark.parametrize(
    "check",
    [
        "check_dataframe_column_names_consistency",
        "check_get_feature_names_out_error",
        "check_global_output_transform_pandas",
        "check_set_output_transform",
        "check_set_output_transform_pandas",
        "check_transformer_get_feature_names_out",
        "check_transformer_get_feature_names_out_pandas",
    ],
)
@pytest.mark.parametrize("name", [name for name in ("ft-gcl", "dgi", "smoothed") if name in EMBEDDERS])
@pytest.mark.filterwarnings("ignore::graphprox.CollapsedEmbeddingWarning")
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")  # the checks provoke it
def test_scikit_learn_accepts_names_and_output_containers(name, check):
    assert getattr(estimator_checks, check)(METHODS[name].__name__, tiny(name)) is None  # it raises otherwise
