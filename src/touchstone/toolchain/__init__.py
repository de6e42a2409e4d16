"""Finds build tools and their versions, and says how to get missing ones."""
