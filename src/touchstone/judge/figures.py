"""The figures by what makes them untrustworthy together, as rules name them."""

from __future__ import annotations

from touchstone.vocabulary.figure import FIGURES, Group, figures_of

LATENCY = figures_of(Group.LATENCY)
TAIL = figures_of(Group.TAIL)
PEAK = figures_of(Group.PEAK)
SPEED = figures_of(Group.SPEED)
CPU = figures_of(Group.CPU)
MEMORY = figures_of(Group.MEMORY)
BOOT_TIME = figures_of(Group.BOOT_TIME)


def is_exact(name: str) -> bool:
    """Whether a figure is counted and not sampled; a quantity that a claim names next to the figures is not."""
    figure = FIGURES.get(name)
    return figure is not None and Group.EXACT in figure.groups
