"""The plan of a run: presets, placement on CPUs, laps, orders."""
