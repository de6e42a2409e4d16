"""Figures over commits: a store that lives in git, change points, breaks of the machine, and exports to other tools."""
