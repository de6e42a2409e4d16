"""Stores a user in PostgreSQL, reads it back, deletes it and answers with it."""
