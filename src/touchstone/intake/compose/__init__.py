"""Drafts of scenarios from Compose files (the Compose specification)."""
