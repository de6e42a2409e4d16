"""Reads results that others published and applies every check that needs no rerun."""
