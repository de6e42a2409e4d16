"""Derives verdicts on samples, figures and the run from findings."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from touchstone.judge.figures import TAIL
from touchstone.judge.judgement import Estimate, Finding, PossibleBias, Severity, Verdict
from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample

_WEIGHT = {Severity.NOTE: Verdict.VALID, Severity.SUSPECT: Verdict.SUSPECT, Severity.INVALID: Verdict.INVALID}
_ORDER = [Verdict.VALID, Verdict.SUSPECT, Verdict.INVALID]


def worst(*verdicts: Verdict) -> Verdict:
    """Return the most severe verdict; valid if there is none."""
    return max(verdicts, key=_ORDER.index, default=Verdict.VALID)


@dataclass
class WeighedFindings:
    """Findings that bear on something, and the verdict that follows from them."""

    findings: list[Finding] = field(default_factory=list)
    figure: str = ""

    @property
    def verdict(self) -> Verdict:
        """The heaviest. A suspicion whose size is known widens intervals instead."""
        return worst(*(_WEIGHT[f.severity] for f in self.findings if self._size(f) is None))

    @property
    def doubts(self) -> list[PossibleBias]:
        """Return the possible biases of the findings that have a bound."""
        return [doubt for f in self.findings if (doubt := self._size(f)) is not None]

    @property
    def doubted(self) -> str | None:
        """The statement of the first suspicion that has a size, None if none has."""
        return next((f.statement for f in self.findings if self._size(f) is not None), None)

    def _size(self, finding: Finding) -> PossibleBias | None:
        """The size of a possible bias. None as well if its direction is unknown for a far percentile."""
        if finding.severity is not Severity.SUSPECT or finding.doubt is None:
            return None
        return None if self.figure in TAIL and finding.doubt.side is None else finding.doubt

    @property
    def reason(self) -> str | None:
        """The statement of the finding that weighs most, None if all are notes."""
        verdict = self.verdict
        if verdict is Verdict.VALID:
            return None
        return next(f.statement for f in self.findings if _WEIGHT[f.severity] is verdict and self._size(f) is None)


class FindingsIndex:
    """An index of a run's findings by sample, figure and load."""

    def __init__(self, findings: list[Finding]) -> None:
        self._by_sample: dict[str, list[Finding]] = defaultdict(list)
        self._wider: list[Finding] = []
        for finding in findings:
            if finding.sample is None:
                self._wider.append(finding)
            else:
                self._by_sample[finding.sample].append(finding)

    def on_figure(self, sample: Sample, figure: str) -> WeighedFindings:
        """Return the findings about one figure of one sample."""
        return WeighedFindings(
            [f for f in self._by_sample[sample.id] if f.figures is None or figure in f.figures], figure
        )

    def on_series(self, contender: str, load: str | None, figure: str) -> WeighedFindings:
        """Return the findings about a figure over all rounds: on the contender, the load or the run.

        Findings about the run do not concern tares, which are measured to judge it.
        """
        return WeighedFindings(
            [
                f
                for f in self._wider
                if (f.contender == contender or (f.contender is None and contender != TARE))
                and f.load in (None, load)
                and (f.figures is None or figure in f.figures)
            ],
            figure,
        )

    def on_sample(self, sample: Sample) -> Verdict:
        """The sample as a whole. A finding that spoils only some figures makes it suspect, not invalid."""
        verdicts = []
        for finding in self._by_sample[sample.id]:
            verdict = _WEIGHT[finding.severity]
            if finding.figures is not None and verdict is Verdict.INVALID:
                touched = set(finding.figures) & set(sample.figures)
                verdict = Verdict.INVALID if touched == set(sample.figures) else Verdict.SUSPECT
            verdicts.append(verdict)
        for finding in self._wider:
            if finding.contender == sample.contender and finding.load in (None, sample.load):
                verdicts.append(
                    _WEIGHT[finding.severity]
                    if finding.figures is None
                    else Verdict.SUSPECT
                    if set(finding.figures) & set(sample.figures) and finding.severity is not Severity.NOTE
                    else Verdict.VALID
                )
        return worst(*verdicts)


def on_run(run: Run, findings: list[Finding], estimates: list[Estimate]) -> Verdict:
    """The run as a whole: invalid if nothing valid can be said, suspect if something in it must be read with care.

    Exhibits are left aside, for they are there to be wrong, unless there is nothing else.
    """
    exhibits = {c.name for c in run.plan.contenders if c.exhibit}
    measured = [e for e in estimates if e.contender != TARE]
    own = [e for e in measured if e.contender not in exhibits]
    if len(exhibits) == len(run.plan.contenders):
        own = measured
    wide = worst(*(_WEIGHT[f.severity] for f in findings if f.contender is None and f.figures is None))
    if not own and run.samples and set(run.plan.phases) == {"verify"}:
        # A contract check of a running service gives no figure.
        return wide
    if wide is Verdict.INVALID or all(e.verdict is Verdict.INVALID for e in own):
        return Verdict.INVALID
    return worst(wide, *(Verdict.SUSPECT for e in own if e.verdict is not Verdict.VALID))
