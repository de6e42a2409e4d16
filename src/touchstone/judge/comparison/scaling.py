"""Fits the universal scalability law to a service's rates at several concurrencies."""

from __future__ import annotations

from touchstone.judge.judgement import Scaling
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.statistics.scalability import ScalabilityLaw, fit_law
from touchstone.record.evidence.capacity import CapacityTrial
from touchstone.record.sample import TARE

_FITS = 0.15
"""The law is reported if its points are this close: latencies of trials of two seconds scatter by a tenth."""
_KEPT = 0.98
_SETTLED = 0.01
"""A trial counts whose rate was kept while the requests in the system did not grow: Little's law is for such alone."""


def scalings(case: Case) -> list[Scaling]:
    """The scalability law of each contender and load that it fits, in record order."""
    trials: dict[tuple[str, str], list[CapacityTrial]] = {}
    for sample in case.run.samples:
        if sample.capacity is not None and sample.contender != TARE:
            trials.setdefault((sample.contender, sample.load or ""), []).extend(sample.capacity.trials)
    found = []
    for (contender, load), tried in trials.items():
        points = [(inside, trial.achieved) for trial in tried if (inside := _inside(trial)) is not None]
        law = fit_law(points, case.confidence)
        if law is not None and law.error <= _FITS:
            found.append(_scaling(contender, load, law, len(points), case.confidence))
    return found


def _inside(trial: CapacityTrial) -> float | None:
    """Requests in the system on average, by Little's law. None for a trial in which they were not as many all along."""
    settled = trial.achieved >= _KEPT * trial.rate and (trial.backlog is None or trial.backlog <= _SETTLED)
    mean = trial.latency.get("mean")
    return trial.achieved * mean if settled and trial.held is not None and mean and trial.achieved > 0 else None


def _scaling(contender: str, load: str, law: ScalabilityLaw, points: int, confidence: float) -> Scaling:
    single, contention, crosstalk = law.single, law.contention, law.crosstalk
    bound = (
        "" if law.ceiling is None else f" With ever more concurrent requests, it stays below {number(law.ceiling)}/s."
    )
    sentence = (
        f"By the universal scalability law, which fits its trials to {share(law.error)}, {contender} would serve "
        f"{number(single.point)}/s without concurrency ({number(single.low)} to {number(single.high)}). "
        f"Requests wait for each other during {share(contention.point)} of their work "
        f"({share(contention.low)} to {share(contention.high)}), and each pair of concurrent requests adds "
        f"{share(crosstalk.point)} (up to {share(crosstalk.high)}).{bound} The intervals hold with {share(confidence)}."
    )
    return Scaling(
        contender=contender,
        load=load,
        points=points,
        single=(single.point, single.low, single.high),
        contention=(contention.point, contention.low, contention.high),
        crosstalk=(crosstalk.point, crosstalk.low, crosstalk.high),
        ceiling=law.ceiling,
        error=law.error,
        sentence=sentence,
    )
