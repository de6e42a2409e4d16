"""Ratios of neighbouring starts: each is a process of its own, so each is worth a round where contenders take turns."""

from __future__ import annotations

import math

from touchstone.record.boot_result import START_FIGURES, BootRun
from touchstone.record.sample import Sample


def start_values(sample: Sample, figure: str) -> list[float]:
    """The single starts behind a figure, where the sample holds them."""
    return [value for run in _runs(sample, figure) if (value := _value(run, figure)) is not None]


def start_ratios(contender: Sample, baseline: Sample, figure: str) -> list[float]:
    """The log ratio of each pair of neighbouring starts in a round. None if they took no turns."""
    if not all(sample.boot and sample.boot.in_turn for sample in (contender, baseline)):
        return []
    pairs = zip(_runs(contender, figure), _runs(baseline, figure), strict=False)
    values = [(_value(a, figure), _value(b, figure)) for a, b in pairs]
    return [math.log(a / b) for a, b in values if a and b]


def _runs(sample: Sample, figure: str) -> list[BootRun]:
    return sample.boot.runs if sample.boot is not None and figure in START_FIGURES else []


def _value(run: BootRun, figure: str) -> float | None:
    value = None if run.failure or run.cold_cache else getattr(run, START_FIGURES[figure])
    return None if value is None else float(value)
