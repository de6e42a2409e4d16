"""One registry of plots. A new plot is one new file and its line here."""

from touchstone.report.plots import (
    boot,
    burst,
    capacity,
    convergence,
    drain,
    floor,
    hold,
    memory,
    peak,
    percentiles,
    rate,
    warmup,
)
from touchstone.report.plots.panel import PanelBuilder

PANELS: tuple[PanelBuilder, ...] = (
    boot.build,
    convergence.build,
    percentiles.build,
    rate.build,
    capacity.build_latency,
    capacity.build_cpu,
    capacity.build_memory,
    burst.build_goodput,
    burst.build_timeline,
    warmup.build,
    memory.build,
    peak.build_totals,
    peak.build_rates,
    hold.build,
    drain.build,
    floor.build,
)
"""In the order of the page. Each draws only where a place has samples for it; the ratio plot
stands before them and takes all places of a section."""
