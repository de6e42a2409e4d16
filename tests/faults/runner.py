"""Carries out a set-up with the real lab, judges the record, and says what was caught, missed or a false alarm."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from tests.faults.catalogue import GROUND
from tests.faults.machine import DISTURBANCES
from tests.faults.plan import NAMES, write_scenario
from tests.faults.setup import Setup
from touchstone.failure import TouchstoneError
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.rules.table import RULES
from touchstone.manifest.catalogue import read_scenario_folder, select_contenders
from touchstone.phase.registry import select_phases
from touchstone.plan.plan import RunRequest, make_plan, planned_loads
from touchstone.record.run import Run
from touchstone.record.store import RunStore, load_run
from touchstone.run.conductor import Conductor
from touchstone.run.noise import measure_noise

SEED = 20_260_301
MACHINE_NOISE = frozenset(
    {
        "above-tare",
        "connections-wait",
        "cpu-stolen",
        "engine-withdraws",
        "frequency-changed",
        "generator-saturated",
        "late-sends",
        "level-at-ceiling",
        "near-tare",
        "no-steady-state",
        "other-processes",
        "queue-grows",
        "rate-not-reached",
        "slowdown-in-window",
        "stall-in-closed-loop",
        "still-falling",
        "still-rising",
        "tare-drift",
        "tare-noise",
        "warm-up-in-window",
    }
)
"""Findings that a machine with other work on it brings about by itself: all of them weigh CPU time or a rate against
another. They are left aside on a sound set-up only, and only if the machine is measured as noisy right after it; the
table says so."""

_LOOK_S = 4.0


@dataclass
class Outcome:
    """What became of one set-up."""

    setup: Setup
    findings: list[Finding] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    false: list[Finding] = field(default_factory=list)
    aside: list[Finding] = field(default_factory=list)
    """Findings that the machine's own noise explains."""
    noise: list[str] = field(default_factory=list)
    """What the machine was measured to do right after, where that matters."""
    error: str | None = None
    took_s: float = 0.0

    @property
    def unplanted(self) -> bool:
        """Whether the fault could not be planted because the machine was busy."""
        return bool(self.missed and self.setup.needs_quiet and self.noise)

    @property
    def right(self) -> bool:
        """Whether all is as it must be."""
        return not (self.missed or self.false or self.error)


def carry_out(setup: Setup, home: Path) -> Outcome:
    """Plant, measure, judge. `home` keeps compiled programs and the recorded run that record faults start from.

    Noise that has gone when the machine is checked looks like a false alarm, and does not come again: a
    sound set-up without other findings is measured once more.
    """
    outcome = _carried_out(setup, home)
    if outcome.false and all(finding.code in MACHINE_NOISE for finding in outcome.false):
        outcome = _carried_out(setup, home)
    return outcome


def _carried_out(setup: Setup, home: Path) -> Outcome:
    outcome = Outcome(setup)
    begin = time.monotonic()
    try:
        run = edited(setup, home) if setup.edit else recorded(setup, home)
        outcome.findings = judge(run).findings
    except (TouchstoneError, OSError) as error:
        outcome.error = f"{type(error).__name__}: {error}"
    outcome.took_s = time.monotonic() - begin
    if setup.sound and any(f.code in MACHINE_NOISE and f.severity is not Severity.NOTE for f in outcome.findings):
        outcome.noise = measure_noise(_LOOK_S).complaints()
    weigh(outcome)
    if outcome.missed and setup.needs_quiet:
        outcome.noise = measure_noise(_LOOK_S).complaints()
    return outcome


def weigh(outcome: Outcome) -> None:
    """Hold the findings against what the set-up expects."""
    setup = outcome.setup
    if outcome.error:
        return
    if setup.sound:
        for finding in outcome.findings:
            if finding.severity is not Severity.NOTE or finding.code in setup.never:
                excused = bool(outcome.noise) and finding.code in MACHINE_NOISE
                (outcome.aside if excused else outcome.false).append(finding)
        return
    faulty = f"{NAMES[len(setup.servers) - 1]}/plain"
    usual = {code: rule.severity for code, rule in RULES.items()}
    for alternatives in setup.expects:
        if not any(_caught(code, outcome, usual[code], faulty) for code in alternatives.split("|")):
            outcome.missed.append(alternatives)


def _caught(code: str, outcome: Outcome, usual: Severity, faulty: str) -> bool:
    """Whether the finding fired on the faulty contender, or on the run, and was heavy enough."""
    # An error class is invalid only above the allowance: what must be reached is suspect, or a note for a note.
    least = Severity(outcome.setup.least.get(code, max(usual, Severity.SUSPECT, key=lambda s: s.place)))
    anyone = outcome.setup.edit is not None or code == "level-at-ceiling"
    return any(
        finding.code == code
        and finding.severity.place <= least.place
        and (anyone or finding.contender in (None, faulty))
        for finding in outcome.findings
    )


def recorded(setup: Setup, home: Path) -> Run:
    """Carry out the set-up with the lab, and read the record back."""
    place = home / "runs" / setup.id
    shutil.rmtree(place, ignore_errors=True)
    folder = read_scenario_folder(write_scenario(setup, place / "scenario", home / "programs"))
    contenders = select_contenders(folder, [])
    wish = RunRequest(profile=setup.profile, rounds=setup.rounds, seed=SEED, phases=setup.phases)
    phases = select_phases(folder.scenario, wish.phases)
    loads = planned_loads(folder, wish)
    store = RunStore(place / "results")
    with DISTURBANCES[setup.machine or "none"]() as stage, (place / "said").open("w") as said:
        stage.console = Console(file=said, width=200)
        plan = make_plan(folder, contenders, wish, [phase.kind.name for phase in phases])
        Conductor(folder, plan, phases, contenders, loads, store, stage).carry_out()
    return load_run(store.folder)


def edited(setup: Setup, home: Path) -> Run:
    """A copy of the recorded ground run with the set-up's edit in it."""
    assert setup.edit is not None
    ground = home / "runs" / GROUND.id / "results"
    if not (ground / "plan.json").is_file() or not load_run(ground).ended_at:
        recorded(GROUND, home)
    copy = home / "runs" / setup.id
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ground, copy)
    setup.edit(copy)
    return load_run(copy)


def prepare(home: Path, setups: Sequence[Setup]) -> None:
    """Compile, and record the ground run if any set-up needs it. Builds stay in `home`, apart from the user's cache."""
    os.environ["TOUCHSTONE_CACHE"] = str(home / "cache")
    if any(setup.edit for setup in setups):
        recorded(GROUND, home)
