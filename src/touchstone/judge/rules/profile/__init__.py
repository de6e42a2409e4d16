"""Rules on profiles."""
