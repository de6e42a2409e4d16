"""Groups of figures that become doubtful together. Rules refer to these groups."""

from __future__ import annotations

from touchstone.vocabulary.figure import FIGURES, FigureGroup, figures_of

LATENCY = figures_of(FigureGroup.LATENCY)
TAIL = figures_of(FigureGroup.TAIL)
PEAK = figures_of(FigureGroup.PEAK)
SPEED = figures_of(FigureGroup.SPEED)
CPU = figures_of(FigureGroup.CPU)
MEMORY = figures_of(FigureGroup.MEMORY)
BOOT_TIME = figures_of(FigureGroup.BOOT_TIME)


def is_exact(name: str) -> bool:
    """Whether a figure is counted and not sampled. A quantity that a claim names next to the figures is not."""
    figure = FIGURES.get(name)
    return figure is not None and FigureGroup.EXACT in figure.groups
