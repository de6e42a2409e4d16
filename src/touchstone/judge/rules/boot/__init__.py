"""Starts: from exec to the first valid response."""
