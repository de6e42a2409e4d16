"""Whether a window shows a settled contender."""
