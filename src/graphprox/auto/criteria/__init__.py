"""Criteria: how the default method judges proximities without labels, one file each."""

from graphprox.auto.criteria.base import CRITERIA, RATIOS, Criterion, Evidence, register_criterion

__all__ = ["CRITERIA", "RATIOS", "Criterion", "Evidence", "register_criterion"]
