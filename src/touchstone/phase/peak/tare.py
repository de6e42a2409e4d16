"""The tare of the start under load."""

from __future__ import annotations

from touchstone.bench.base import Bench, blank_sample
from touchstone.manifest.load import Load
from touchstone.phase.load.tare import load_null_server
from touchstone.record.sample import TARE, Sample


def measure_peak_tare(bench: Bench, load: Load, round_number: int) -> list[Sample]:
    """The tare of the peak phase, whose load need not be one of the run's loads."""
    sample = load_null_server(bench, load, blank_sample(bench, "peak", TARE, under=load, round_number=round_number))
    # It stands next to contenders whose rate after the start is what counts, and has no latency to be compared with.
    sample.figures = {"peak_rate": sample.result.rate.achieved} if sample.result else {}
    return [sample]
