"""Why one contender needs more CPU per request than another: the difference in parts that add up to it."""
