"""Loads and their figures."""
