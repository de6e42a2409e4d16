"""Estimates, verdicts and comparisons: within a run, and between two."""
