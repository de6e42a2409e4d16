"""The start under load."""
