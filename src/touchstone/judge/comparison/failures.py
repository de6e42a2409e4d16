"""Finds contenders that failed: the service died, failed in a round, or has an invalid measurement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from touchstone.judge.judgement import Estimate, FailedContender, Finding, Severity, Verdict
from touchstone.judge.rules.table import RULES
from touchstone.record.load_spec import LoadSpec
from touchstone.record.run import Run
from touchstone.record.sample import CheckOutcome, Failure, Sample
from touchstone.record.secret import shown_text
from touchstone.vocabulary.phase import PHASES

_SHOWN = 15
"""Lines of a log shown with a failure: enough for a compiler's last error or a stack trace's end."""


def failed_contenders(run: Run, findings: list[Finding], estimates: list[Estimate]) -> list[FailedContender]:
    """Return failed contenders in the order of the plan, each with its most severe reason.

    Exhibits are left aside, for they are there to be wrong, unless there is nothing else. A contender whose tools are
    missing has not failed: the plan says that it is not measured. Nor has one whose rounds were left out since another
    had failed before the first. A twin fails with the baseline that it is a copy of, and is not named besides.
    """
    planned = [c for c in run.plan.contenders if c.not_measured is None]
    judged = [c for c in planned if not c.exhibit] or planned
    baseline = run.plan.baseline_among({c.name for c in judged})
    samples = {c.name: [s for s in run.samples if s.contender == c.name] for c in judged}
    reasons = {
        name: _broken_off(own)
        or _failed_in(own, findings)
        or _void(own, findings, [e for e in estimates if e.contender == name])
        for name, own in samples.items()
    }
    began = any(sample.round is not None for sample in run.samples)
    if not run.interrupted and (began or not any(reasons.values())):
        unanswered = _unanswered(run)
        reasons = {
            name: reason
            or (None if name == run.plan.twin else _left_out(run, samples[name]))
            or _not_measured(samples[name], unanswered)
            for name, reason in reasons.items()
        }
    return [
        FailedContender(contender=name, reason=reason, details=_details(samples[name]))
        for name, reason in reasons.items()
        if reason is not None and not (name == run.plan.twin and reasons[baseline or name])
    ]


def _left_out(run: Run, samples: list[Sample]) -> str | None:
    """Return planned measurements without any sample."""
    if not samples:
        return "nothing of it was measured"
    done = {sample.load for sample in samples if sample.phase == "load"}
    calm = [load for load in run.plan.loads if not run.plan.load_specs.get(load, LoadSpec()).disturb]
    lacking = [load for load in calm if load not in done] if "load" in run.plan.phases else []
    return f"load, {lacking[0]}: nothing of it was measured" if lacking else None


def _unanswered(run: Run) -> list[str]:
    """Phases that were asked for, and of which no contender has a figure: what the run was for is not there."""
    answered = {sample.phase for sample in run.samples if sample.figures}
    return [name for name in run.plan.phases if not PHASES[name].by_default and name not in answered]


def _not_measured(samples: list[Sample], phases: Collection[str]) -> str | None:
    """Return why the contender has no figure of these phases."""
    for sample in samples:
        if sample.phase in phases and sample.not_measured:
            return f"{sample.phase}: not measured: {next(iter(sample.not_measured.values()))}"
    return None


def _first_broken(samples: list[Sample]) -> tuple[str, Failure | CheckOutcome] | None:
    """The first failed measurement or broken check, with its phase."""
    for sample in samples:
        if sample.failure is not None:
            return sample.phase, sample.failure
        if sample.phase == "verify" and (broken := next((c for c in sample.checks if not c.passed), None)):
            return sample.phase, broken
    return None


def _broken_off(samples: list[Sample]) -> str | None:
    """Return the failed measurement or the broken check of the contract."""
    match _first_broken(samples):
        case phase, Failure(what=what):
            return f"{phase}: {what}"
        case _, CheckOutcome(says=says):
            return f"it breaks its contract: {says}"
    return None


def _details(samples: list[Sample]) -> list[str]:
    """What shows the reason that `_broken_off` gives; none for another reason."""
    match _first_broken(samples):
        case _, Failure(tail=tail):
            return [shown_text(line) for line in tail[-_SHOWN:]]
        case _, CheckOutcome(broken=[first, *_]):
            return [f"{first.request}: expected {first.expected}", f"received {first.received}"]
    return []


def _failed_in(samples: list[Sample], findings: list[Finding]) -> str | None:
    """The first measurement in which the service itself failed: who left that round out would measure its good days."""
    own = {rule.code for rule in RULES.values() if rule.own_failure}
    by_id = {sample.id: sample for sample in samples}
    for finding in findings:
        sample = by_id.get(finding.sample or "")
        if sample is not None and finding.severity is Severity.INVALID and finding.code in own:
            place = f"{sample.phase}, {sample.load}" if sample.load else sample.phase
            when = f" in round {sample.round}" if sample.round is not None else ""
            return f"{place}{when}: {finding.statement}"
    return None


def _void(samples: list[Sample], findings: list[Finding], estimates: list[Estimate]) -> str | None:
    """A measurement of which every figure is invalid: what is left of it is the reason why."""
    by_place: dict[tuple[str, str | None], list[Estimate]] = defaultdict(list)
    for estimate in estimates:
        by_place[estimate.phase, estimate.load].append(estimate)
    for (phase, load), group in by_place.items():
        if all(e.verdict is Verdict.INVALID for e in group):
            place = f"{phase}, {load}" if load else phase
            within = {sample.id for sample in samples if (sample.phase, sample.load) == (phase, load)}
            grave = next((f for f in findings if f.severity is Severity.INVALID and f.sample in within), None)
            return f"{place}: {grave.statement if grave else group[0].reason or 'every figure is invalid'}"
    return None
