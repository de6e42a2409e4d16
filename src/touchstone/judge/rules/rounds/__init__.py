"""Whether there are enough rounds, whole and in a drawn order."""
