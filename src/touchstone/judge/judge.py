"""The judge turns a run into a judgement. The same record always gives the same judgement."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.judge.comparison.compare import compare
from touchstone.judge.comparison.crossing import crossings
from touchstone.judge.comparison.estimate import measure
from touchstone.judge.comparison.failures import failed_contenders
from touchstone.judge.comparison.scaling import scalings
from touchstone.judge.comparison.verdict import FindingsIndex, on_run
from touchstone.judge.judgement import Finding, Judgement
from touchstone.judge.reading.case import Case
from touchstone.judge.rules.table import RULES, is_cause
from touchstone.record.run import Run


def judge(run: Run, margin: float | None = None, confidence: float | None = None) -> Judgement:
    """Judge a run: which samples can be trusted, what the figures are, and which differences are real.

    Args:
        run: the record.
        margin: the least effect that matters, as a share; the plan's if not given.
        confidence: of intervals and decisions, between 0.5 and 1; the plan's if not given.

    Raises:
        ValueError: margin is not positive, or confidence not between 0.5 and 1.

    """
    case = Case(
        run,
        run.plan.margin if margin is None else margin,
        run.plan.confidence if confidence is None else confidence,
    )
    if not case.margin > 0:
        raise ValueError(f"the margin must be a positive share such as 0.05, not {case.margin}")
    if not 0.5 <= case.confidence < 1:
        raise ValueError(f"the confidence must lie between 0.5 and 1, not at {case.confidence}")
    findings = all_findings(case)
    scales = FindingsIndex(findings)
    series = measure(case, scales)
    estimates = [s.estimate for s in series]
    return Judgement(
        verdict=on_run(run, findings, estimates),
        failed=failed_contenders(run, findings, estimates),
        sample_verdicts={sample.id: scales.on_sample(sample) for sample in run.samples},
        findings=findings,
        estimates=estimates,
        comparisons=compare(case, series),
        steady=case.steady,
        peaks=list(case.peaks.values()),
        scalings=scalings(case),
        crossings=crossings(case, series),
        margin=case.margin,
        confidence=case.confidence,
    )


def all_findings(case: Case) -> list[Finding]:
    """Return the findings of all rules, the most severe first."""
    findings = _with_causes([finding for rule in RULES.values() for finding in rule.findings(case)])
    return sorted(
        findings,
        key=lambda f: (
            f.severity.place,
            f.contender or "",
            f.load or "",
            not is_cause(f.code),
            f.code,
            f.sample or "",
        ),
    )


def _with_causes(findings: Sequence[Finding]) -> list[Finding]:
    """The findings with causes. A finding explained by another names it and is no more severe."""
    at: dict[str, list[Finding]] = {}
    for finding in findings:
        if is_cause(finding.code) and finding.sample is not None:
            at.setdefault(finding.sample, []).append(finding)
    return [
        _explained(one, [cause for cause in at.get(one.sample or "", ()) if one.code in RULES[cause.code].explains])
        for one in findings
    ]


def _explained(finding: Finding, causes: Sequence[Finding]) -> Finding:
    if not causes:
        return finding
    cause = min(causes, key=lambda f: f.severity.place)
    return finding.model_copy(
        update={
            "statement": f"{finding.statement}; `{cause.code}` explains it",
            "severity": max(finding.severity, cause.severity, key=lambda severity: severity.place),
            "next_step": cause.next_step,
        }
    )
