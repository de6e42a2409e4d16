"""Whether the contender does the scenario's work at all."""
