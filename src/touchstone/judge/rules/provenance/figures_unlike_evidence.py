"""Rule: a figure is not what its evidence says."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import quantity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.boot_result import START_FIGURES
from touchstone.record.memory import peak_memory
from touchstone.record.sample import Sample
from touchstone.vocabulary.figure import FIGURES

TOLERANCE = 0.02
LATENCIES = ("mean", "p50", "p90", "p95", "p99", "p99_9", "max")
BOOTS = ("boot_rss", "boot_pss", "boot_anon", "boot_first_response")


class FiguresUnlikeEvidence(SampleRule):
    """A table in milliseconds that holds seconds, or virtual memory under the name of memory.

    Each figure is held against the raw record that it comes from.
    """

    code = "figures-unlike-evidence"
    severity = Severity.INVALID
    title = "A figure is not what its evidence says"
    threshold = "a figure of rate, latency or memory more than 2 % off the value in the engine's result or the starts"
    threshold_reason = (
        "figures are copied or are medians, and a peak may be read from two series; 2 % is beyond any rounding"
    )
    next_step = "The figure was derived wrongly: report it with the record."
    phases = ("load", "boot")
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        for figure, values in _evidence(sample).items():
            stated = sample.figures.get(figure)
            if stated is None or not values:
                continue
            low, high = min(values), max(values)
            if not low * (1 - TOLERANCE) <= stated <= high * (1 + TOLERANCE):
                told = quantity(figure, low) if low == high else f"{quantity(figure, low)} to {quantity(figure, high)}"
                yield self.finding(
                    f"{FIGURES[figure].title} is given as {quantity(figure, stated)}, and the evidence says "
                    f"{told}{_virtual(sample, stated)}",
                    sample=sample,
                    figures=[figure],
                    evidence={"figure": figure, "stated": stated, "evidence": [low, high]},
                )


def _evidence(sample: Sample) -> dict[str, list[float]]:
    """The values in the raw record between which each figure must lie."""
    found: dict[str, list[float]] = {}
    if sample.result is not None:
        result = sample.result
        found["throughput"] = [result.rate.achieved]
        for name in LATENCIES:
            value = getattr(result.latency, name)
            found[f"latency_{name}"] = [] if value is None else [value]
        if result.watch is not None:
            peak = peak_memory(result.watch)
            found["rss_peak"] = [] if peak is None else [float(peak)]
    runs = [r for r in (sample.boot.runs if sample.boot else []) if not r.failure]
    for figure in BOOTS:
        found[figure] = [float(v) for r in runs if (v := getattr(r, START_FIGURES[figure])) is not None]
    return found


def _virtual(sample: Sample, stated: float) -> str:
    """Say so if the figure is virtual memory."""
    peaks = [r.vm_peak for r in (sample.boot.runs if sample.boot else []) if r.vm_peak]
    near = any(abs(stated / peak - 1) < TOLERANCE for peak in peaks)
    return ": it is the virtual memory's peak" if near else ""
