"""Defaults and names that the command line offers too, which must not import what they stand for to know them."""

from __future__ import annotations

from typing import Literal

DEFAULT_METHOD = "auto"
DEFAULT_TRAINED_METHOD = "ft-gcl"  # of commands that select settings of training
AUTO = "auto"  # the preset of the data set that is given

ProtocolName = Literal["random", "public", "grace", "dgi"]  # of node classification, after their origin
