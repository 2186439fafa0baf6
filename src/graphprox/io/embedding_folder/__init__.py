"""Embedding folders: an embedding in Parquet files of a bounded number of rows, and a description of them."""
