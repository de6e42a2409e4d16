"""Planted faults and sound set-ups: does the judge catch the ones, and leave the others alone."""
