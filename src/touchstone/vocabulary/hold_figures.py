"""The figures of the phase `hold`: the memory of many connections."""

from __future__ import annotations

from touchstone.vocabulary.figure_shape import Better, CountWords, Figure, Unit

HOLD_FIGURES = [
    Figure(
        "hold_rss_per_connection",
        "RSS per connection",
        Unit.BYTES,
        Better.LOWER,
        "hold",
        headline=True,
        scored=True,
        leads=True,
    ),
    Figure("hold_anon_per_connection", "Anonymous memory per connection", Unit.BYTES, Better.LOWER, "hold"),
    Figure("hold_kernel_per_connection", "Kernel memory per connection", Unit.BYTES, Better.LOWER, "hold"),
    Figure("hold_vmpeak_per_connection", "VmPeak per connection", Unit.BYTES, Better.NEITHER, "hold"),
    Figure("hold_rss_base", "RSS without connections", Unit.BYTES, Better.LOWER, "hold"),
    Figure("hold_given_back", "Memory given back after closing", Unit.SHARE, Better.HIGHER, "hold"),
    Figure(
        "hold_connections",
        "Connections held",
        Unit.COUNT,
        Better.HIGHER,
        "hold",
        counted=CountWords("holds", "connections", "fewer", "more"),
    ),
]
