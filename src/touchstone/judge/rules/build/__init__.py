"""How an artifact came about: cold, undisturbed, and from these sources."""
