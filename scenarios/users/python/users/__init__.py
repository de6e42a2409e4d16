"""Registers names in SQLite, and finds them again."""
