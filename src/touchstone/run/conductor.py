"""Carries out a plan: builds, checks, then rounds.

The null server is measured before each round and after the last.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

from touchstone.bench.at_once import why_not_together
from touchstone.bench.base import Bench, MeasurementOptions, blank_sample, failed
from touchstone.dependency.base import Dependency, DependencyContext
from touchstone.dependency.registry import dependency_class
from touchstone.engine.locate import engine_path
from touchstone.failure import TouchstoneError
from touchstone.isolation.cgroup import clear_own_cgroups
from touchstone.isolation.lingering import ends_with_session
from touchstone.isolation.port import free_port
from touchstone.judge.statistics.intervals import MIN_ROUNDS
from touchstone.manifest.catalogue import Contender, ScenarioFolder
from touchstone.manifest.load import Load
from touchstone.phase.base import AllAtOnce, EachInTurn, NullServerTurn, Phase, PlannedTurn, ReportNote
from touchstone.phase.build.phase import BuildPhase
from touchstone.plan.plan import Tools, find_tools
from touchstone.plan.preset import PROFILES
from touchstone.record.run import Environment, Plan, Run
from touchstone.record.sample import Sample
from touchstone.record.store import RunStore, StoreError
from touchstone.report.format import plural
from touchstone.run.builds_at_once import build_at_once
from touchstone.run.convergence import ConvergenceWatcher
from touchstone.run.failure_lines import EndedServices, broken_lines, failure_lines
from touchstone.run.fingerprint import fingerprint
from touchstone.run.permitted import limits_in_force
from touchstone.run.progress import Display
from touchstone.run.stopping_rule import PlannedRounds, StoppingRule
from touchstone.run.twin import TwinTurns, measures_twin, no_room
from touchstone.toolchain.cache import cache_folder
from touchstone.toolchain.tool import FoundTool
from touchstone.vocabulary.dependency import DEPENDENCIES, DependencyKind

Plans = Mapping[Phase, Sequence[PlannedTurn]]
"""What each phase measures in every round."""
_ASKED_APART = "the contenders do not run at once, as requested"


@dataclass
class Conductor:
    """One run. `carry_out` returns whether the run was completed."""

    folder: ScenarioFolder
    plan: Plan
    phases: Sequence[Phase]
    contenders: Sequence[Contender]
    loads: Mapping[str, Load]
    store: RunStore
    display: Display
    options: MeasurementOptions = field(default_factory=MeasurementOptions)
    ending: StoppingRule | None = None
    """Asked after each round whether it was the last, and of how many laps the next one is. None: as planned."""
    after_round: Callable[[Run], None] = lambda _run: None
    """Called after each round that has intervals and is not the last."""
    notes: list[str] = field(default_factory=list)
    all_or_none: bool = False
    """If one of the contenders falls out, the others are not measured either."""
    samples: list[Sample] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.converging = ConvergenceWatcher(self.plan)
        self.deaths = EndedServices(self.store.folder)

    def carry_out(self) -> bool:
        """Measure everything in the plan. An interruption ends the run early and keeps finished measurements."""
        runnable = {entry.name for entry in self.plan.contenders if entry.not_measured is None}
        self.chosen = [contender for contender in self.contenders if contender.name in runnable]
        tools = {
            contender.name: found for contender in self.chosen if isinstance(found := find_tools(contender), Tools)
        }
        self.environment = fingerprint({n: v for t in tools.values() for n, v in t.versions.items()})
        self.store.open(self.plan, self.environment)
        self._warn(self.environment)
        scratch = Path(tempfile.mkdtemp(prefix="touchstone-run-"))
        scratch.chmod(0o711)
        restore = signal.signal(signal.SIGTERM, _as_interrupt)
        dependencies: dict[str, Dependency] = {}
        completed = False
        try:
            bench = self._bench(scratch, dependencies, {name: found.found for name, found in tools.items()})
            self.display.total(self._steps())
            self._measure(bench, dependencies)
            completed = True
        except KeyboardInterrupt:
            self.notes.append("interrupted: the report shows what was measured until then")
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                for dependency in reversed(dependencies.values()):
                    dependency.stop()
            finally:
                clear_own_cgroups()
                shutil.rmtree(scratch, ignore_errors=True)
                signal.signal(signal.SIGTERM, restore)
                signal.signal(signal.SIGINT, signal.default_int_handler)
                self.store.write_state(ended=True, interrupted=not completed, notes=self.notes)
        return completed

    def _warn(self, environment: Environment) -> None:
        """Print warnings before the run begins."""
        for note in limits_in_force(environment):
            self._note(note)
        if ending := ends_with_session():
            self.display.say(f"this run {ending}")

    def _bench(
        self, scratch: Path, dependencies: Mapping[str, Dependency], tools: Mapping[str, Mapping[str, FoundTool]]
    ) -> Bench:
        profile = PROFILES[self.plan.profile]
        return Bench(
            scenario=self.folder.scenario,
            loads=self.loads,
            profile=profile if self.plan.slice_s is None else profile.with_slices_of(self.plan.slice_s),
            placement=self.plan.placement,
            store=self.store,
            scratch=scratch,
            seed=self.plan.seed,
            watcher=self.display,
            options=self.options,
            contenders=self.chosen,
            tools=tools,
            dependencies=dependencies,
            lap_watcher=self.converging,
        )

    def _steps(self) -> int:
        """Return the number of measurements in the plan."""
        return sum(
            self.plan.rounds if phase.kind.per_round else 1
            for phase in self.phases
            for contender in self.chosen
            if self._takes(phase, contender)
        )

    def _measure(self, bench: Bench, dependencies: dict[str, Dependency]) -> None:
        sound = list(self.chosen)
        for phase in self.phases:
            if phase.kind.per_round:
                continue
            able = [contender for contender in sound if self._takes(phase, contender)]
            if isinstance(phase, BuildPhase):
                bench = replace(bench, builds=phase.built)
            elif not dependencies and any(contender.outside is None for contender in sound):
                self._start_dependencies(bench, dependencies)
            if able:
                self.display.stage(phase.stage(able))
            if isinstance(phase, BuildPhase) and not self.options.timed_builds:
                build_at_once(self.folder.folder, bench, able, self.display.say)
            for contender in able:
                if contender.name == self.plan.twin and self._in_vain(len(sound)):
                    return
                samples = self._carry(bench, phase, contender)
                self.display.advance()
                if phase.kind.always and not self._passes(samples, contender):
                    sound.remove(contender)
            if phase.kind.always and self._in_vain(len(sound)):
                return
        if sound and any(phase.kind.per_round for phase in self.phases):
            self._rounds(replace(bench, contenders=sound), {contender.name: contender for contender in sound})

    def _in_vain(self, left: int) -> bool:
        """Whether no contender is left to compare. If so, print and store it."""
        if not self.all_or_none or left == len(self.contenders):
            return False
        self._note("no load was run: a contender of the comparison could not be measured")
        return True

    def _rounds(self, bench: Bench, sound: Mapping[str, Contender]) -> None:
        phases = [phase for phase in self.phases if phase.kind.per_round]
        bench = self._arranged(bench, phases)
        sound = {one.name: one for one in bench.contenders}
        twin = TwinTurns(bench.twin) if bench.twin else None
        able = {phase: [one for one in bench.contenders if self._takes(phase, one)] for phase in phases}
        plans = {phase: list(phase.plan(bench, able[phase])) for phase in phases}
        for note in (turn for turns in plans.values() for turn in turns if isinstance(turn, ReportNote)):
            self._note(note.text)
        number, ending = 0, self.ending or PlannedRounds(self.plan)
        while True:
            number += 1
            bench = replace(bench, laps=ending.laps)
            begin = time.monotonic()
            order = {place: sound[name] for place, name in enumerate(self._order(number)) if name in sound}
            if twin is not None and not twin.takes_part():
                order = {place: one for place, one in order.items() if one.name != twin.name}
            self.display.longer(self._steps())
            names = ", ".join(contender.name for contender in order.values())
            self.display.stage(f"round {number} of {max(number, self.plan.rounds)}: {names}")
            known = len(self.samples)
            self._round(bench, plans, order, number)
            took_s = time.monotonic() - begin
            if twin is not None:
                twin.after_round(self.samples[known:], len(order), took_s)
            so_far = self._so_far()
            if ending.reached(so_far, number, took_s):
                break
            if number >= MIN_ROUNDS:
                self.after_round(so_far)
        self._end_rounds(number, [ending.note, twin.note if twin else ""])
        self._tares(bench, plans, number + 1)

    def _takes(self, phase: Phase, contender: Contender) -> bool:
        """Whether a phase measures a contender. The twin has only some phases."""
        return phase.takes(contender) and (contender.name != self.plan.twin or measures_twin(phase.kind.name))

    def _arranged(self, bench: Bench, phases: Sequence[Phase]) -> Bench:
        """Return the bench with its concurrency settings, and with the twin if there is room."""
        twin = self.plan.twin
        alone = [one for one in bench.contenders if one.name != twin]
        arranged = replace(bench, contenders=alone)
        arranged = replace(arranged, why_not_together=self._why_not_together(arranged, phases))
        if twin is None:
            return arranged
        why = no_room(arranged, [phase.kind.name for phase in phases], bench.contenders)
        if why is None:
            return replace(arranged, contenders=bench.contenders, twin=twin)
        self._note(f"the base has no twin, so this gate does not check itself: {why}")
        self.plan.twin = None
        self.plan.contenders = [entry for entry in self.plan.contenders if entry.name != twin]
        self.store.write_plan(self.plan)
        return arranged

    def _why_not_together(self, bench: Bench, phases: Sequence[Phase]) -> str | None:
        """Return why the contenders cannot run at the same time. None if they can or need not."""
        if self.plan.whole_windows:
            return _ASKED_APART
        return why_not_together(bench, bench.contenders) if any(phase.at_once for phase in phases) else None

    def _round(self, bench: Bench, plans: Plans, order: Mapping[int, Contender], number: int) -> None:
        """Carry out a round with the contenders in the given order."""
        self._tares(bench, plans, number)
        for phase, turns in plans.items():
            able = [contender for contender in order.values() if self._takes(phase, contender)]
            for turn in turns:
                if isinstance(turn, AllAtOnce):
                    for samples in turn.measure(bench, able, number):
                        self._keep(samples)
        for line in self.converging.after_round():
            self.display.say(line)
        for position, contender in order.items():
            for phase, turns in plans.items():
                if self._takes(phase, contender):
                    for turn in turns:
                        # The twin takes part in slices only.
                        if isinstance(turn, EachInTurn) and contender.name != bench.twin:
                            self._carry(bench, phase, contender, (number, position))
                    self.display.advance()

    def _so_far(self) -> Run:
        """Return the unfinished run from memory."""
        return Run(
            plan=self.plan,
            environment=self.environment,
            samples=self.samples,
            started_at=self.store.started_at,
            interrupted=True,
            notes=self.notes,
        )

    def _note(self, text: str) -> None:
        self.notes.append(text)
        self.display.say(text)

    def _end_rounds(self, number: int, notes: Sequence[str]) -> None:
        """Set the plan's number of rounds to the number of measured rounds."""
        for note in filter(None, notes):
            self._note(note)
        self.plan.rounds = number
        del self.plan.orders[number:]
        self.store.write_plan(self.plan)

    def _tares(self, bench: Bench, plans: Plans, number: int) -> None:
        """Measure the null server before a round and after the last."""
        for turn in (turn for turns in plans.values() for turn in turns):
            if isinstance(turn, NullServerTurn):
                self._keep(turn.measure(bench, number), quietly=True)

    def _order(self, number: int) -> list[str]:
        """Return the order of a round. An additional round's is drawn from the seed and added to the plan."""
        if number > len(self.plan.orders):
            names = sorted(self.plan.orders[0])
            self.plan.orders.append(random.Random(f"{self.plan.seed}-{number}").sample(names, len(names)))
            self.plan.rounds = number
            self.store.write_plan(self.plan)
        return self.plan.orders[number - 1]

    def _carry(
        self,
        bench: Bench,
        phase: Phase,
        contender: Contender,
        place: tuple[int | None, int] = (None, 0),
    ) -> list[Sample]:
        number, position = place
        self.display.step(f"{phase.kind.title}: {contender.name}")
        try:
            samples = phase.measure(bench, contender, number, position)
        except StoreError:
            raise
        except TouchstoneError as error:
            sample = blank_sample(bench, phase.kind.name, contender.name, round_number=number, position=position)
            sample.failure = failed(error, [])
            samples = [sample]
        self._keep(samples)
        return samples

    def _keep(self, samples: Sequence[Sample], *, quietly: bool = False) -> None:
        """Store samples, and immediately print failures and ended services."""
        for sample in samples:
            self.store.add(sample)
            self.samples.append(sample)
            self.display.measured(sample)
            if quietly:
                continue
            if sample.failure:
                for line in failure_lines(sample.contender, sample.phase, sample.failure):
                    self.display.say(line)
            for line in self.deaths.lines(sample):
                self.display.say(line)

    def _passes(self, samples: Sequence[Sample], contender: Contender) -> bool:
        """Whether a contender has not failed and keeps its contract. An exhibit may break the contract."""
        sound = True
        for sample in samples:
            if sample.failure or any(not check.passed for check in sample.checks):
                sound = bool(contender.variant.exhibit) and not sample.failure
                for line in broken_lines(sample, self.store.folder):
                    self.display.say(line)
            elif sample.checks:
                self.display.say(f"  {contender.name} keeps its contract: {plural(len(sample.checks), 'check')}")
        return sound

    def _start_dependencies(self, bench: Bench, dependencies: dict[str, Dependency]) -> None:
        for name, spec in self.folder.scenario.dependencies.items():
            context = DependencyContext(
                folder=bench.scratch / name,
                log_folder=self.store.logs,
                cpus=tuple(bench.placement.dependency_cpus),
                engine=engine_path(),
                cache=cache_folder(),
                options=dict(self.options.addresses),
                scenario=self.folder.folder,
                variables=dict(spec.variables),
                relay_port=self._relay_port(name, DEPENDENCIES[spec.kind]),
            )
            kind = dependency_class(spec.kind)
            if missing := kind.missing(context):
                raise TouchstoneError(missing, where=f"dependency {name} ({spec.kind})")
            dependency = kind(name, spec.env, dict(spec.settings), context)
            dependencies[name] = dependency
            self.display.step(f"starting {name}")
            dependency.start()

    def _relay_port(self, name: str, kind: DependencyKind) -> int | None:
        """A port for the relay before a dependency that a load of the run disturbs."""
        disturbed = any(one.dependency == name for load in self.loads.values() for one in load.disturb)
        return free_port() if disturbed and kind.relayed else None


def _as_interrupt(_signal: int, _frame: FrameType | None) -> None:
    """SIGTERM ends a run as Ctrl-C does: cleanly, with a report."""
    raise KeyboardInterrupt(os.getpid())
