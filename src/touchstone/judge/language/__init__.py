"""The judge's results in words."""
