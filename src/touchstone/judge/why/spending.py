"""Reads a profile: CPU seconds per request by category and by function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from touchstone.attribution.category import Category
from touchstone.attribution.table import Attribution
from touchstone.record.evidence.profile import ProfileEvidence
from touchstone.record.sample import Sample


@dataclass
class CpuByCategory:
    """CPU by category of one sample, in seconds per request."""

    plain: float
    """What the contender takes."""
    subject: float
    """What was profiled takes, without the profiler: what the categories add up to."""
    categories: dict[str, float] = field(default_factory=dict)
    functions: dict[str, float] = field(default_factory=dict)
    function_category: dict[str, str] = field(default_factory=dict)
    unmatched: dict[str, float] = field(default_factory=dict)
    """By the innermost frame."""


def spending(evidence: ProfileEvidence) -> CpuByCategory | None:
    """Sort a profile's stacks; None if it has none, or its passes' CPU is not known.

    Samples are scaled by the CPU that the process tree uses without the profiler, so that they add up to it, and what
    the profiler costs is spread over them.
    """
    plain = evidence.plain.cpu_per_request if evidence.plain else None
    subject = evidence.subject.cpu_per_request if evidence.subject else None
    if plain is None or subject is None or not evidence.stacks or not evidence.stacks.samples:
        return None
    each = subject / evidence.stacks.samples
    attribution = Attribution(evidence.tables, evidence.application)
    categories: dict[str, float] = defaultdict(float)
    functions: dict[str, float] = defaultdict(float)
    unmatched: dict[str, float] = defaultdict(float)
    weights: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for stack, count in evidence.stacks.read():
        placed = attribution.place(stack)
        categories[placed.category] += count * each
        functions[placed.owner] += count * each
        weights[placed.owner][placed.category] += count * each
        if placed.category is Category.UNMATCHED:
            unmatched[stack[-1]] += count * each
    leading = {name: max(by, key=lambda key: by[key]) for name, by in weights.items()}
    return CpuByCategory(plain, subject, dict(categories), dict(functions), leading, dict(unmatched))


def profiles(samples: Sequence[Sample], contender: str, load: str) -> Iterator[tuple[int, Sample]]:
    """A contender's profiled samples under a load, by round."""
    for sample in samples:
        if (sample.phase, sample.contender, sample.load) == ("profile", contender, load) and sample.profile:
            yield sample.round or 0, sample


def calls_per_request(evidence: Sequence[ProfileEvidence]) -> dict[str, float]:
    """System calls per request by name, over all rounds in which they were counted. Empty if they never were."""
    counted = [one.syscalls for one in evidence if one.syscalls and one.syscalls.requests]
    requests = sum(one.requests for one in counted)
    names = {name for one in counted for name in one.counts}
    return {name: sum(one.counts.get(name, 0) for one in counted) / requests for name in names}


def why_not(samples: Sequence[Sample], contender: str, load: str) -> str:
    """Why there is no profile of a contender under a load."""
    for sample in samples:
        if (sample.phase, sample.contender, sample.load) == ("profile", contender, load):
            if sample.profile and sample.profile.not_profiled:
                return f"{contender}: {sample.profile.not_profiled}"
            if sample.failure:
                return f"{contender}: {sample.failure.what}"
    return f"{contender}: it was not profiled under {load}: run the phase `profile`"
