"""Objectives, which compare two views of a graph and are minimized in training; one file each."""

from graphprox.nn.objectives.base import OBJECTIVES, Objective, ObjectiveOptions, register_objective

__all__ = ["OBJECTIVES", "Objective", "ObjectiveOptions", "register_objective"]
