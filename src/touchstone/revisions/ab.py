"""Measures two revisions as two contenders of one run, and judges them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.pair import PairJudgement, Revision, judge_pair, still_open
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Comparison
from touchstone.judge.statistics.intervals import simultaneous
from touchstone.judge.why.explain import explain
from touchstone.judge.why.tail.explain import explain_latency
from touchstone.manifest.catalogue import ScenarioFolder
from touchstone.manifest.files import SCENARIO_FILE
from touchstone.plan.plan import RunRequest, planned_loads
from touchstone.record.store import REVISIONS, load_run
from touchstone.report import render
from touchstone.report.view import View
from touchstone.revisions.contenders import BASE, HEAD, TWIN, fetched, same_sources, scenario_place, two_stacks
from touchstone.revisions.repository import Repository
from touchstone.run.measure import RunConditions, measure
from touchstone.run.pair import MeasuredPair
from touchstone.vocabulary.figure import FIGURES

SHARP = ("throughput", "cpu_per_request", "latency_p50", "rss_peak")
"""What is asked about if nothing is named: what neighbouring slices tell precisely, and memory. Far percentiles
need whole windows, and starts a phase of their own."""
CPU, P99 = "cpu_per_request", "latency_p99"
EXPLAINED = {CPU: "profile", P99: "tail"}
"""Figures that can be explained, each with the phase that does it."""
SAME = "both revisions have the same sources: their contract was checked, and nothing was loaded"
"""Said where only noise could differ."""
WHY = "why"
"""The folder within a run's that holds the run with the profiles."""


@dataclass(frozen=True)
class RevisionQuestion:
    """What is asked of two revisions."""

    terms: ComparisonTerms
    """The figures, at least one, with their margins."""
    loads: tuple[str, ...] = ()
    scenario: str | None = None
    """A folder relative to where the user is, or a scenario folder's name."""
    stack: str | None = None
    """`stack` or `stack/variant`."""
    command: tuple[str, ...] = ()
    """What the user typed, for the record."""
    fetch: str | None = None
    """A shell's command that puts a revision's artifacts into the work folder, in place of its build."""
    why: bool = False
    """Whether CPU per request and p99 are explained, under the loads under which they differ."""
    skips_same: bool = False
    """Whether two commits with the same sources are checked and not loaded; one commit named twice is measured."""
    twin: bool = False
    """Whether a second copy of the base takes part, by which the gate checks itself."""
    still_open: Callable[[Comparison], bool] | None = None
    """Whether a comparison of such a figure still has to be decided; by its margin, if nothing else is said."""


def compare_revisions(
    repository: Repository,
    revisions: tuple[Revision, Revision],
    question: RevisionQuestion,
    *,
    here: Path,
    conditions: RunConditions,
    scenario_of: Revision | None = None,
) -> MeasuredPair:
    """Build, check and measure both in turns until each requested figure is decided.

    Args:
        repository: where the revisions are.
        revisions: the base and the head.
        question: what is asked.
        here: where the user is, for the scenario's folder.
        conditions: where results go, for how long to go on.
        scenario_of: the revision whose contract and loads both are held to; the head if it is not given.

    Raises:
        TouchstoneError: no such scenario, stack or load, or a manifest is wrong.

    """
    judged_by = scenario_of or revisions[1]
    inside = here.resolve()
    within = inside.relative_to(repository.top) if inside.is_relative_to(repository.top) else Path()
    place = scenario_place(question.scenario, within, repository.files(judged_by, SCENARIO_FILE))
    with repository.checked_out([*revisions, judged_by]) as tops:
        base, head, scenario = (top / place for top in tops)
        folder, contender = two_stacks(scenario, base, head, question.stack, twin=question.twin)
        _, variant = contender.split("/")
        commits = {revision.commit for revision in revisions}
        if question.fetch is not None:
            named = {BASE: revisions[0].commit, HEAD: revisions[1].commit, TWIN: revisions[0].commit}
            folder = fetched(folder, variant, question.fetch, named)
        request, notes = _wish(folder, question), [*conditions.notes]
        may_skip = question.skips_same and question.fetch is None and len(commits) > 1
        same = may_skip and not repository.absent_submodules(revisions) and same_sources(folder)
        if same:
            request, notes = replace(request, phases=("verify",)), [*notes, SAME]
        carried_out = replace(
            conditions, still_open=lambda comparison: _still_open(comparison, question), all_or_none=True, notes=notes
        )
        stacks = [f"{BASE}/{variant}", f"{HEAD}/{variant}"]
        twin = f"{TWIN}/{variant}" if question.twin and not same else None
        store = measure(
            folder, replace(request, twin=twin), stacks=[*stacks, *([twin] if twin else [])], conditions=carried_out
        )
        run = load_run(store.folder)
        judgement = judge(run)
        sides = (stacks[0], revisions[0]), (stacks[1], revisions[1])
        judged = judge_pair(run, judgement, sides, question.terms, contender, same_sources=same)
        store.write(REVISIONS, judged)
        if question.why and not run.interrupted:
            profiling = replace(carried_out, folder=store.folder / WHY, until_decided_s=0.0)
            _explain(judged, folder, stacks, question, profiling)
            store.write(REVISIONS, judged)
    return MeasuredPair(run, judgement, judged, store.folder)


def _explain(
    judged: PairJudgement,
    folder: ScenarioFolder,
    stacks: Sequence[str],
    question: RevisionQuestion,
    conditions: RunConditions,
) -> None:
    """Explain CPU per request and p99, each under the loads under which it differs."""
    differ: dict[str, dict[str, None]] = {figure: {} for figure in EXPLAINED}
    for change in judged.changes:
        if change.figure in EXPLAINED and change.decided and change.load:
            differ[change.figure][change.load] = None
    loads = tuple(dict.fromkeys(load for found in differ.values() for load in found))
    if not loads:
        return
    phases = tuple(phase for figure, phase in EXPLAINED.items() if differ[figure])
    request = RunRequest(profile="quick", phases=phases, loads=loads, command=question.command)
    store = measure(folder, request, stacks=stacks, conditions=conditions)
    run = load_run(store.folder)
    render(View(run, judge(run)), store.folder)
    base, head, confidence = stacks[0], stacks[1], question.terms.confidence
    judged.why = [explain(run, base, head, load, confidence) for load in differ[CPU]]
    judged.why_p99 = [explain_latency(run, base, head, load, confidence) for load in differ[P99]]
    judged.interrupted = run.interrupted


def _wish(folder: ScenarioFolder, question: RevisionQuestion) -> RunRequest:
    """The phases that give the figures, and a confidence at which all their intervals hold together."""
    terms = question.terms
    phases = tuple(dict.fromkeys(FIGURES[figure].phase for figure in terms.figures))
    request = RunRequest(profile="quick", phases=phases, loads=question.loads, command=question.command)
    asked = _intervals(terms.figures, len(planned_loads(folder, request)))
    margin = min(terms.margin_of(figure) for figure in terms.figures)
    return replace(request, margin=margin, confidence=simultaneous(terms.confidence, asked))


def _still_open(comparison: Comparison, question: RevisionQuestion) -> bool:
    """Whether it still has to be decided: as the question says, else by its own margin. Nothing waits for the twin."""
    if comparison.contender.split("/")[0] == TWIN:
        return False
    if comparison.figure in question.terms.figures and question.still_open is not None:
        return question.still_open(comparison)
    return still_open(comparison, question.terms)


def _intervals(figures: Iterable[str], loads: int) -> int:
    """How many intervals are looked at: one a load for what is measured under load."""
    return sum(loads if FIGURES[figure].phase == "load" else 1 for figure in figures)
