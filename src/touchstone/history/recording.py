"""A run as lines of a history."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from touchstone.failure import InvalidRunError, UsageError
from touchstone.history.entry import HistoryEntry
from touchstone.judge.comparison.gate import PairStatus
from touchstone.judge.comparison.pair import PairJudgement
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Judgement, Verdict
from touchstone.record.run import Environment, Run
from touchstone.record.sample import TARE
from touchstone.vocabulary.figure import FIGURES

_GIB = 2**30


@dataclass(frozen=True)
class MeasuredCommit:
    """Which commit a run has measured."""

    commit: str
    committed_at: datetime
    subject: str = ""
    dirty: bool = False


def entries_of(
    run: Run, measured: MeasuredCommit, *, reference: str | None = None, judgement: Judgement | None = None
) -> list[HistoryEntry]:
    """The valid figures of a run's contenders, as ratios to a reference contender.

    Args:
        run: as read from its folder.
        measured: the commit.
        reference: `stack` or `stack/variant`; the run's baseline if it is not given.
        judgement: of the run against that reference, where it was judged before.

    Raises:
        UsageError: the run has no such contender.
        InvalidRunError: the run has no valid figure.

    """
    names = [contender.name for contender in run.plan.contenders]
    if reference is not None and not any(reference in (name, name.split("/", 1)[0]) for name in names):
        raise UsageError(f"the run has no contender {reference!r}", fix=f"--reference is one of: {', '.join(names)}")
    exhibits = {contender.name for contender in run.plan.contenders if contender.exhibit}
    judged = judgement or judge(run.against(reference))
    return _entries(run, judged, measured, {name: name for name in names if name not in exhibits}, None)


def entries_of_revisions(run: Run, judged: PairJudgement, measured: MeasuredCommit) -> list[HistoryEntry]:
    """The head's valid figures, as ratios to the base revision, which is the pinned reference.

    Raises InvalidRunError if there is none, or if the two could not be compared.
    """
    if judged.standing in (PairStatus.INVALID, PairStatus.UNRELIABLE):
        raise InvalidRunError("the two revisions could not be compared", fix="`touchstone show` says why")
    _, variant = judged.contender.split("/", 1)
    reference = f"{judged.contender} at {judged.revisions[0].commit[:10]}"
    return _entries(run, judge(run), measured, {f"head/{variant}": judged.contender}, reference)


def machine_facts(environment: Environment, tools: Mapping[str, str]) -> dict[str, str]:
    """What must stay the same for values of two runs to be comparable, by name.

    Memory is given in whole GiB, because the kernel's own share differs between boots.
    """
    facts = {
        "CPU": f"{environment.cpus} of {environment.cpu_model}",
        "memory": f"{round(environment.memory / _GIB)} GiB",
        "kernel": environment.kernel,
        "system": environment.os,
        "virtualisation": environment.virtualisation or "none found",
        "engine": environment.engine_sha256[:16] or environment.engine_version,
    }
    return facts | {f"tool {name}": version for name, version in sorted(tools.items())}


def finite(value: float | None) -> float | None:
    """The value as an entry holds it. None for an open end, for which no drawing and no JSON has a place."""
    return value if value is not None and math.isfinite(value) else None


def _entries(
    run: Run, judgement: Judgement, measured: MeasuredCommit, names: Mapping[str, str], reference: str | None
) -> list[HistoryEntry]:
    """The run's entries. `names`: by a contender's name in the run, its name in the history."""
    ratios = {c.key: c for c in judgement.comparisons if c.verdict is not Verdict.INVALID}
    tares = {(e.load, e.figure): e.median for e in judgement.estimates if e.contender == TARE and e.median}
    tools = {contender.name: contender.tools for contender in run.plan.contenders}
    found = []
    for estimate in judgement.estimates:
        if estimate.contender not in names or estimate.figure not in FIGURES:
            continue
        if estimate.median is None or estimate.verdict is Verdict.INVALID:
            continue
        compared, tare = ratios.get(estimate.key), tares.get((estimate.load, estimate.figure))
        entry = HistoryEntry(
            run=run.plan.run_id,
            commit=measured.commit,
            committed_at=measured.committed_at,
            subject=measured.subject,
            dirty=measured.dirty,
            measured_at=run.started_at,
            scenario=run.plan.scenario,
            scenario_version=run.plan.scenario_version,
            contender=names[estimate.contender],
            load=estimate.load,
            figure=estimate.figure,
            value=estimate.median,
            low=estimate.low,
            high=estimate.high,
            to_tare=estimate.median / tare if tare else None,
            machine=machine_facts(run.environment, tools.get(estimate.contender, {})),
        )
        if compared is not None and compared.ratio is not None:
            entry.reference = reference or compared.baseline
            ends = compared.ratio, compared.low, compared.high
            entry.ratio, entry.ratio_low, entry.ratio_high = map(finite, ends)
        found.append(entry)
    if not found:
        raise InvalidRunError("the run has no valid figure to record", fix="`touchstone show` says why")
    return found
