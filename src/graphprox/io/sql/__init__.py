"""Graphs from SQL queries, vectors into tables of a database."""
