"""A run's records, arranged in the ways in which the rules look at them."""
