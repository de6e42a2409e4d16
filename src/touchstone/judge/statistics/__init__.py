"""Intervals, tests, changepoints and trends on plain numbers. The mathematics: docs/methodology.md."""
