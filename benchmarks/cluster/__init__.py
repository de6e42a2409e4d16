"""Held connections from many machines in small: how many, and how fast they open."""
