"""Measures the figures that claims need. An interrupted series of runs can be continued."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from touchstone.failure import TouchstoneError, did_you_mean
from touchstone.judge.claims.check import terms
from touchstone.judge.claims.wanted import PlannedRun, UndecidedRun
from touchstone.judge.comparison.across import differences
from touchstone.manifest.catalogue import ScenarioFolder, select_contenders
from touchstone.manifest.claim import Claim, ClaimExplanation, ClaimsFile
from touchstone.phase.drain.phase import fillings
from touchstone.plan.plan import RunRequest, find_tools
from touchstone.plan.preset import PROFILES
from touchstone.record.run import Environment
from touchstone.record.store import load_environment, load_run
from touchstone.run.fingerprint import fingerprint
from touchstone.run.measure import RunConditions, measure
from touchstone.run.progress import Display
from touchstone.whole_file import write_whole

_LEAST_S = 60.0
"""A run of fewer seconds ends before its first look."""


class ClaimsState:
    """results/claims.json: which run measured which step, and how it ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.steps: dict[str, dict[str, Any]] = {}
        if path.is_file():
            try:
                self.steps = json.loads(path.read_text(encoding="utf-8"))["steps"]
            except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
                raise TouchstoneError(
                    f"it cannot be read: {error}", where=str(path), fix="remove it; the runs are kept"
                ) from error

    def done(self, step: PlannedRun, profile: str) -> str | None:
        """Return the run that has already measured the step with all its contenders.

        None if there is none.

        Nor if that run is gone, or was made on another machine or by another engine: its numbers are not combined
        with new ones.
        """
        entry = self.steps.get(step.name)
        if entry is None or entry["state"] != "done" or entry["profile"] != profile:
            return None
        if not set(step.contenders) <= set(entry["contenders"]):
            return None
        made = load_environment(self.path.parent / str(entry["run"]))
        return None if made is None or differences(made, self.here) else str(entry["run"])

    @cached_property
    def here(self) -> Environment:
        """Return the present machine and engine."""
        return fingerprint({})

    def note(self, step: PlannedRun, profile: str, state: str, run: str | None = None, why: str | None = None) -> None:
        """Store the state of a step."""
        self.steps[step.name] = {
            "state": state,
            "run": run,
            "profile": profile,
            "contenders": list(step.contenders),
            "why": why,
        }
        document = {"schema": "touchstone.claims-state/1", "steps": self.steps}
        write_whole(self.path, json.dumps(document, indent=1) + "\n")


@dataclass(frozen=True)
class Obstacles:
    """Reasons why a step cannot be measured on this machine."""

    folders: dict[str, ScenarioFolder]

    def __call__(self, scenario: str, contender: str, load: str | None) -> str | None:
        """Return the reason as text. None if the step can be measured."""
        folder = self.folders.get(scenario)
        if folder is None:
            return f"the scenario {scenario} is not part of this lab"
        known = {f"{stack.name}/{name}": stack for stack in folder.stacks for name in stack.variants}
        if contender not in known:
            return f"scenario {scenario} has no contender {contender}"
        missing = find_tools(select_contenders(folder, [contender])[0])
        if isinstance(missing, str):
            return f"{contender}: {missing}"
        return None if load is None or load in _loads(folder) else f"scenario {scenario} has no load {load}"


def unknown_loads(file: ClaimsFile, folders: Mapping[str, ScenarioFolder]) -> Iterator[str]:
    """Return a sentence for each load that a claim names and its scenario lacks.

    Missing scenarios are ignored.

    No run can ever have such a load: a promise about it would stay "not measured" for good. A contender may well be
    none of the scenario's: those of `touchstone ab` are called base and head.
    """
    for claim in file.claims:
        folder = folders.get(claim.scenario or file.scenario)
        if folder is None:
            continue
        sources: list[Claim | ClaimExplanation] = [claim, *claim.explained_by]
        tests = [source.test for source in sources if source.test is not None]
        named = [source.load for source in sources] + [term.load for test in tests for term in terms(test)]
        known = _loads(folder)
        for name in dict.fromkeys(name for name in named if name is not None and name not in known):
            hint = did_you_mean(name, known)
            yield f"claims[{claim.id}]: scenario {folder.scenario.name} has no load {name!r}: {hint}there are: " + (
                ", ".join(known)
            )


def _loads(folder: ScenarioFolder) -> list[str]:
    """Return all valid values of a sample's `load`: loads, modes of `hold`, fillings of `drain`."""
    scenario = folder.scenario
    names = list(scenario.loads)
    if scenario.hold is not None:
        names += [*scenario.hold.modes, "large"]
    if scenario.drain is not None:
        names += [filling.name for filling in fillings(scenario.drain, "thorough", exhibits=True)]
    return names


@dataclass(frozen=True)
class StepSettings:
    """Settings with which steps are measured."""

    profile: str
    rounds: int | None
    command: tuple[str, ...]
    results: Path
    say: Callable[[str], None]
    display: Callable[[], Display]


def measurable(step: PlannedRun, obstacles: Obstacles) -> PlannedRun | None:
    """Return the part of the step that can be measured. None if nothing can."""
    left = tuple(c for c in step.contenders if obstacles(step.scenario, c, step.load) is None)
    return replace(step, contenders=left) if left else None


def measure_steps(steps: Sequence[PlannedRun], obstacles: Obstacles, state: ClaimsState, how: StepSettings) -> bool:
    """Make a run for each unmeasured step. Returns False if interrupted; finished measurements are kept."""
    for number, wanted in enumerate(steps, start=1):
        step = measurable(wanted, obstacles)
        if step is None or state.done(step, how.profile):
            continue
        how.say(f"step {number} of {len(steps)}: {step.name}: {', '.join(step.contenders)}")
        try:
            run_id, completed = _measure(step, obstacles.folders[step.scenario], state, how)
        except TouchstoneError as error:
            state.note(step, how.profile, "failed", why=str(error))
            how.say(f"  not measured: {error}")
            continue
        state.note(step, how.profile, "done" if completed else "interrupted", run_id)
        if not completed:
            return False
    return True


def decide_steps(
    still_open: Callable[[], Sequence[UndecidedRun]],
    obstacles: Obstacles,
    state: ClaimsState,
    how: StepSettings,
    seconds: float,
) -> bool:
    """Repeat runs with undecided claims until the time is up.

    The run that may decide most claims is first.

    Args:
        still_open: the claims that are undecided; called after each run, since one run may decide another's claims.
        obstacles: what cannot be measured here.
        state: records each run.
        how: how runs are made.
        seconds: for all of them. Each gets its share of what is left, and no fewer rounds than the profile has.

    Returns:
        False if it was interrupted; what was measured is kept.

    """
    deadline = time.monotonic() + seconds
    tried: set[str] = set()
    while (left := deadline - time.monotonic()) > _LEAST_S:
        untried = [one for one in still_open() if one.step.name not in tried]
        measured = [(step, one) for one in untried if (step := measurable(one.step, obstacles)) is not None]
        if not measured:
            break
        step, one = measured[0]
        tried.add(step.name)
        share = max(_LEAST_S, left / len(measured))
        words = f"{step.name}, for {', '.join(one.claims)}: {', '.join(step.contenders)}"
        how.say(f"{words}; rounds for {share / 60:.0f} min")
        try:
            run_id, completed = _measure(step, obstacles.folders[step.scenario], state, how, until_decided_s=share)
        except TouchstoneError as error:
            how.say(f"  not measured: {error}")
            continue
        state.note(step, how.profile, "done" if completed else "interrupted", run_id)
        if not completed:
            return False
    return True


def _measure(
    step: PlannedRun, folder: ScenarioFolder, state: ClaimsState, how: StepSettings, until_decided_s: float = 0.0
) -> tuple[str, bool]:
    loads = (step.load,) if step.load else ()
    rounds = how.rounds or PROFILES[how.profile].rounds
    request = RunRequest(profile=how.profile, rounds=rounds, phases=step.phases, loads=loads, command=how.command)
    conditions = RunConditions(
        results=how.results,
        display=how.display(),
        until_decided_s=until_decided_s,
        fresh_builds=step.builds_again,
        # A drain's exhibits are fillings of the topic: seconds each, so they run along.
        drain_exhibits="drain" in step.phases,
        begun=lambda plan: state.note(step, how.profile, "running", plan.run_id),
    )
    run = load_run(measure(folder, request, stacks=step.contenders, conditions=conditions).folder)
    return run.plan.run_id, not run.interrupted
