"""The engine and its ceiling: whether the load generator, and not the contender, was measured."""
