"""Time to peak: when a contender under load from exec on reaches the level that it keeps.

The peak is the level after the last changepoint, and the time to it is the beginning of that last stretch: the time to
steady state of Barrett et al. (2017), who join neighbouring levels that differ by no more than a tolerance, here the
margin (5 %). From then on the rate stays within the margin of its peak. A contender whose level still changes within
the last three tenths of the time has not reached it, and has no time to peak.
"""

from __future__ import annotations

from touchstone.judge.judgement import PeakReached
from touchstone.judge.reading.traffic import measured_points
from touchstone.judge.statistics.steady import steady_state
from touchstone.record.engine import Point
from touchstone.record.sample import Sample

PEAK_FIGURES = ("peak_time", "peak_rate")
"""What only a peak that was reached has."""


def peak_of(sample: Sample, margin: float) -> PeakReached | None:
    """The peak of one start under load; None if the sample is none."""
    if sample.peak is None or sample.result is None:
        return None
    points = _whole(measured_points(sample.result))
    steady = steady_state(points, contender=sample.contender, load="", sample=sample.id, margin=margin, by_rate=True)
    begins = sample.peak.load_begins_s
    peak = PeakReached(
        contender=sample.contender,
        sample=sample.id,
        shape=steady.shape,
        changepoints_s=[begins + t for t in steady.changepoints_s],
    )
    if steady.steady_from_s is not None:
        since = steady.steady_from_s
        peak.time_s = begins + since
        peak.rate = sum(p.ok for p in points if p.t > since + 1e-6) / (points[-1].t - since)
    return peak


def peak_figures(peak: PeakReached) -> dict[str, float]:
    """The figures of a peak that was reached. None otherwise, since a level that still changes is not one."""
    if peak.time_s is None or peak.rate is None:
        return {}
    return {"peak_time": peak.time_s, "peak_rate": peak.rate}


def _whole(points: list[Point]) -> list[Point]:
    """The points without a last one that covers only a part of an interval: its count would look like a fall."""
    if len(points) < 3:
        return points
    interval = points[1].t - points[0].t
    return points if points[-1].t - points[-2].t > 0.95 * interval else points[:-1]
