"""The twins of gates: their intervals in a history of this machine, and how often one was called different."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from touchstone.history import store
from touchstone.history.entry import HistoryEntry
from touchstone.history.recording import MeasuredCommit, finite, machine_facts
from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.pair import PairJudgement
from touchstone.judge.comparison.twin import TwinCount, called_different
from touchstone.record.run import Run
from touchstone.toolchain.cache import cache_folder

TWIN = "its twin"
"""What the ratio of a twin's entry is to: the same revision, measured as a second copy."""
KIND = ("CPU", "memory", "virtualisation")
"""The facts that make two machines of one kind. A kernel or an engine that is updated does not begin the count again:
it is of gates as they were, and the entries name both."""


def twins_file() -> Path:
    """The store of this machine."""
    return cache_folder() / "twins.jsonl"


def count_twin(
    run: Run, judged: PairJudgement, base: MeasuredCommit, terms: ComparisonTerms, path: Path
) -> TwinCount | None:
    """Append a gate's twin to the store.

    Returns the count for this kind of machine and these loads, None without a twin.

    Raises UsageError for a store that cannot be read, OSError for one that cannot be written.
    """
    own = _entries(run, judged, base)
    if not own:
        return None
    before = store.read(path) if path.exists() else []
    path.parent.mkdir(parents=True, exist_ok=True)
    store.append(path, own)
    return counted([*before, *own], own, terms)


def counted(entries: Sequence[HistoryEntry], own: Sequence[HistoryEntry], terms: ComparisonTerms) -> TwinCount:
    """The number of equal gates that called the base different from its copy, at these margins."""
    alike = {_kind(entry) for entry in own}
    gates: dict[str, bool] = {}
    for entry in entries:
        if _kind(entry) in alike and entry.figure in terms.figures:
            found = called_different(entry.ratio, entry.ratio_low, entry.ratio_high, terms.margin_of(entry.figure))
            gates[entry.run] = gates.get(entry.run, False) or found
    return TwinCount(gates=len(gates), different=sum(gates.values()))


def _kind(entry: HistoryEntry) -> tuple[str | None, ...]:
    """What entries have in common that are counted together."""
    return (*(entry.machine.get(name) for name in KIND), entry.scenario, entry.contender, entry.load, entry.figure)


def _entries(run: Run, judged: PairJudgement, base: MeasuredCommit) -> list[HistoryEntry]:
    """A line for each figure of the twin that has an interval."""
    changes = judged.twin.changes if judged.twin else []
    tools = {contender.name: contender.tools for contender in run.plan.contenders}.get(run.plan.twin or "", {})
    return [
        HistoryEntry(
            run=run.plan.run_id,
            commit=base.commit,
            committed_at=base.committed_at,
            subject=base.subject,
            measured_at=run.started_at,
            scenario=run.plan.scenario,
            scenario_version=run.plan.scenario_version,
            contender=judged.contender,
            load=change.load,
            figure=change.figure,
            value=change.after,
            reference=TWIN,
            ratio=change.ratio,
            ratio_low=finite(change.low),
            ratio_high=finite(change.high),
            machine=machine_facts(run.environment, tools),
        )
        for change in changes
        if change.after is not None and change.interval is not None
    ]
