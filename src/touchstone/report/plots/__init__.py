"""One registry of plots. A new plot is one new file and its line here."""

from touchstone.report.plots import boot, memory, percentiles, rate, ratios, warmup
from touchstone.report.plots.panel import PanelBuilder

PANELS: tuple[PanelBuilder, ...] = (
    ratios.build,
    boot.build,
    percentiles.build,
    rate.build,
    warmup.build,
    memory.build,
)
"""In the order of the page. Each draws only where a place has samples for it."""
