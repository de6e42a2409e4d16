"""Statistics, validity rules, comparisons: pure functions on records. Touches no process, file or network."""
