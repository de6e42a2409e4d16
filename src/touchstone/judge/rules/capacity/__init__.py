"""Rules on the highest rate within an objective."""
