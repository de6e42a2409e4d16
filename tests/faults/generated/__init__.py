"""Faults and sound variations that are drawn from a grammar, with the truth from the servers' own counts."""
