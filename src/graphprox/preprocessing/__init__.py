"""From the columns of a table to a matrix of numbers: kinds of columns, missing values, scales."""

import lazy_loader

# A Graph knows EncodedTable, and most graphs have no table: pyarrow is imported for those that have one.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
