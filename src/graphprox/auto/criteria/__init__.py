"""Criteria: how the default method judges proximities without labels, one file each."""

from graphprox.auto.criteria.base import CRITERIA, Criterion, Evidence, register_criterion

__all__ = ["CRITERIA", "Criterion", "Evidence", "register_criterion"]
