"""A static site over the runs of a folder."""
