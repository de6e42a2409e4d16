"""The highest rate within an objective."""
