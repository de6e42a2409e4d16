"""A full topic, worked through."""
