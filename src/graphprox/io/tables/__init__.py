"""Tables of text and Parquet: layout, header, columns."""
