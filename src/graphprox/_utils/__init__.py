"""Helpers shared by several packages; not part of the public interface."""
