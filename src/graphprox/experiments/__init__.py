"""Measurements of the paper, made again."""
