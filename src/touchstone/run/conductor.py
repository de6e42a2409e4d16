"""Carries out a plan: builds, checks, then the rounds with a tare before each and after the last."""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from touchstone.bench.base import Bench, blank_sample, failed
from touchstone.bench.generators import Generators, ThisMachine
from touchstone.bench.ports import apart_for_ports
from touchstone.dependency.base import Dependency, DependencyContext
from touchstone.dependency.registry import dependency_class
from touchstone.engine.locate import engine_path
from touchstone.failure import TouchstoneError
from touchstone.isolation.cgroup import clear_own_cgroups
from touchstone.isolation.lingering import ends_with_session
from touchstone.manifest.catalogue import Contender, ScenarioFolder
from touchstone.manifest.load import Load
from touchstone.phase.base import Phase
from touchstone.plan.plan import Tools, find_tools
from touchstone.plan.profile import PROFILES, Profile
from touchstone.record.run import Environment, Plan
from touchstone.record.sample import Sample
from touchstone.record.store import RunStore, StoreError
from touchstone.report.format import plural
from touchstone.run.converging import Converging
from touchstone.run.ending import Ending, PlannedRounds
from touchstone.run.failure_lines import Deaths, broken_lines, failure_lines
from touchstone.run.fingerprint import fingerprint
from touchstone.run.permitted import limits_in_force
from touchstone.run.progress import Display
from touchstone.toolchain.cache import cache_folder
from touchstone.toolchain.tool import Found

_ASKED_APART = "the contenders are not to run at once, as was asked"


@dataclass
class Conductor:
    """One run. `carry_out` returns whether it came to its end."""

    folder: ScenarioFolder
    plan: Plan
    phases: Sequence[Phase]
    contenders: Sequence[Contender]
    loads: Mapping[str, Load]
    store: RunStore
    display: Display
    options: Mapping[str, str] = field(default_factory=dict)
    fresh_builds: bool = False
    cpu_limit: float | None = None
    large: bool = False
    exhibits: bool = False
    generators: Generators = field(default_factory=ThisMachine)
    notes: list[str] = field(default_factory=list)
    all_or_none: bool = False
    """If one of the contenders falls out, the others are not measured either."""
    ending: Ending | None = None
    """Asked after each round whether it was the last, and of how many laps the next one is. None: as planned."""
    converging: Converging = field(init=False)
    deaths: Deaths = field(init=False)

    def __post_init__(self) -> None:
        self.converging = Converging(self.plan)
        self.deaths = Deaths(self.store.folder)

    def carry_out(self) -> bool:
        """Measure all that the plan names. An interruption ends it early, and keeps what was measured."""
        runnable = {entry.name for entry in self.plan.contenders if entry.not_measured is None}
        chosen = [contender for contender in self.contenders if contender.name in runnable]
        tools = {contender.name: found for contender in chosen if isinstance(found := find_tools(contender), Tools)}
        environment = fingerprint({n: v for t in tools.values() for n, v in t.versions.items()})
        self.store.open(self.plan, environment)
        self._warn(environment)
        scratch = Path(tempfile.mkdtemp(prefix="touchstone-run-"))
        scratch.chmod(0o711)
        restore = signal.signal(signal.SIGTERM, _as_interrupt)
        dependencies: dict[str, Dependency] = {}
        completed = False
        try:
            bench = self._bench(scratch, dependencies, {name: found.found for name, found in tools.items()})
            self.display.total(sum(map(self._steps, chosen)))
            self._measure(bench, chosen, dependencies)
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
        """Say what has to be known before the run begins."""
        for note in limits_in_force(environment):
            self.notes.append(note)
            self.display.say(note)
        if ending := ends_with_session():
            self.display.say(f"this run {ending}")

    def _bench(
        self, scratch: Path, dependencies: Mapping[str, Dependency], tools: Mapping[str, Mapping[str, Found]]
    ) -> Bench:
        return Bench(
            scenario=self.folder.scenario,
            scenario_folder=self.folder.folder,
            loads=self.loads,
            profile=self._profile(),
            slice_is_fixed=self.plan.slice_s is not None,
            apart=_ASKED_APART if self.plan.whole_windows else None,
            placement=self.plan.placement,
            dependencies=dependencies,
            store=self.store,
            scratch=scratch,
            seed=self.plan.seed,
            watcher=self.display,
            tools=tools,
            fresh_builds=self.fresh_builds,
            cpu_limit=self.cpu_limit,
            large=self.large,
            exhibits=self.exhibits,
            lap_watcher=self.converging,
            outside=sum(contender.outside is not None for contender in self.contenders),
            generators=self.generators,
        )

    def _profile(self) -> Profile:
        profile, fixed = PROFILES[self.plan.profile], self.plan.slice_s
        return profile if fixed is None else profile.with_slices_of(fixed)

    def _steps(self, contender: Contender) -> int:
        phases = self._for(contender)
        once = sum(not phase.kind.per_round for phase in phases)
        rounds = sum(phase.kind.per_round for phase in phases) * self.plan.rounds
        return once + rounds

    def _for(self, contender: Contender) -> Sequence[Phase]:
        """The phases that can be carried out on a contender: of one that runs already, what can be asked of it."""
        return [phase for phase in self.phases if phase.kind.outside or not contender.outside]

    def _measure(self, bench: Bench, chosen: Sequence[Contender], dependencies: dict[str, Dependency]) -> None:
        once = {phase.kind.name: phase for phase in self.phases if not phase.kind.per_round}
        own = [contender for contender in chosen if not contender.outside]
        if own:
            self.display.stage(f"building {plural(len(own), 'contender')}")
            for contender in own:
                self._carry(bench, once["build"], contender)
            own = [contender for contender in own if contender.name in bench.builds]
            if self._in_vain(bench.outside + len(own)):
                return
            self._start_dependencies(bench, dependencies)
            own = [contender for contender in own if self._trained(bench, once["train"], contender)]
        standing = [contender for contender in chosen if contender.outside or contender in own]
        self.display.stage("checking the contract")
        sound = [c for c in standing if self._passes(self._carry(bench, once["verify"], c), c)]
        if self._in_vain(len(sound)):
            return
        for phase in once.values():
            if not phase.kind.always:
                self.display.stage(phase.kind.title)
                for contender in sound:
                    if phase in self._for(contender):
                        self._carry(bench, phase, contender)
        if sound and any(phase.kind.per_round for phase in self.phases):
            self._rounds(bench, chosen, {contender.name: contender for contender in sound})

    def _in_vain(self, left: int) -> bool:
        """Whether nothing is left to compare. It is told, and written down."""
        if not self.all_or_none or left == len(self.contenders):
            return False
        self.notes.append("nothing was loaded: a contender that was to be compared could not be measured")
        self.display.say(self.notes[-1])
        return True

    def _trained(self, bench: Bench, train: Phase, contender: Contender) -> bool:
        """Whether the training run, if there is one, left what the contender is run with."""
        if contender.variant.train is None:
            self.display.advance()
            return True
        self.display.stage(f"training {contender.name}")
        return not any(sample.failure for sample in self._carry(bench, train, contender))

    def _rounds(self, bench: Bench, chosen: Sequence[Contender], sound: Mapping[str, Contender]) -> None:
        number = 0
        bench.apart = bench.apart or apart_for_ports(sound.values())
        for phase in self.phases:
            for note in phase.before_rounds(bench, [*sound.values()]):
                self.notes.append(note)
                self.display.say(note)
        ending = self.ending or PlannedRounds(self.store, self.plan)
        while True:
            number += 1
            bench.laps = ending.laps
            begin = time.monotonic()
            order = self._order(number)
            self.display.longer(sum(map(self._steps, chosen)))
            self.display.stage(
                f"round {number} of {max(number, self.plan.rounds)}: {', '.join(n for n in order if n in sound)}"
            )
            self._tares(bench, number)
            self._together(bench, [sound[name] for name in order if name in sound], number)
            for line in self.converging.after_round():
                self.display.say(line)
            for position, name in enumerate(order):
                if name in sound:
                    for phase in self._for(sound[name]):
                        if phase.kind.per_round:
                            self._carry(bench, phase, sound[name], number, position)
            if ending.reached(number, time.monotonic() - begin):
                break
        self._end_rounds(number, ending.note)
        self._tares(bench, number + 1)

    def _end_rounds(self, number: int, note: str) -> None:
        """Where fewer rounds were enough the plan is of so many."""
        if note:
            self.notes.append(note)
            self.display.say(note)
        if number < self.plan.rounds:
            self.plan.rounds = number
            del self.plan.orders[number:]
            self.store.write_plan(self.plan)

    def _together(self, bench: Bench, contenders: Sequence[Contender], number: int) -> None:
        """What the phases measure of all contenders at once."""
        for phase in self.phases:
            if phase.kind.per_round:
                able = [contender for contender in contenders if phase in self._for(contender)]
                for samples in phase.together(bench, able, number):
                    self._keep(samples)
                    self._tell(samples)

    def _tares(self, bench: Bench, number: int) -> None:
        """The tares that go before a round, and after the last."""
        for phase in self.phases:
            self._keep(phase.tares(bench, number))

    def _order(self, number: int) -> list[str]:
        """The order of a round; one beyond the plan is drawn from the seed, too, and put into it."""
        if number > len(self.plan.orders):
            names = sorted(self.plan.orders[0])
            self.plan.orders.append(random.Random(f"{self.plan.seed}-{number}").sample(names, len(names)))
            self.plan.rounds = number
            self.store.write_plan(self.plan)
        return self.plan.orders[number - 1]

    def _carry(
        self, bench: Bench, phase: Phase, contender: Contender, round_number: int | None = None, position: int = 0
    ) -> list[Sample]:
        self.display.step(f"{phase.kind.title}: {contender.name}")
        try:
            samples = phase.measure(bench, contender, round_number, position)
        except StoreError:
            raise
        except TouchstoneError as error:
            sample = blank_sample(bench, phase.kind.name, contender.name, round_number=round_number, position=position)
            sample.failure = failed(error, [])
            samples = [sample]
        self._keep(samples)
        self.display.advance()
        self._tell(samples)
        return samples

    def _tell(self, samples: Sequence[Sample]) -> None:
        """Say at once what failed, and who died."""
        for sample in samples:
            if sample.failure:
                for line in failure_lines(sample.contender, sample.phase, sample.failure):
                    self.display.say(line)
            for line in self.deaths.lines(sample):
                self.display.say(line)

    def _keep(self, samples: Sequence[Sample]) -> None:
        for sample in samples:
            self.store.add(sample)

    def _passes(self, samples: Sequence[Sample], contender: Contender) -> bool:
        """Whether the contract held. An exhibit may break it: its defect is what is shown."""
        sound = True
        for sample in samples:
            if sample.failure or any(not check.passed for check in sample.checks):
                sound = bool(contender.variant.exhibit) and not sample.failure
                for line in broken_lines(sample, self.store.folder):
                    self.display.say(line)
            elif sample.checks:
                self.display.say(f"  {contender.name} holds its contract: {plural(len(sample.checks), 'check')}")
        return sound

    def _start_dependencies(self, bench: Bench, dependencies: dict[str, Dependency]) -> None:
        for name, spec in self.folder.scenario.dependencies.items():
            context = DependencyContext(
                folder=bench.scratch / name,
                log_folder=self.store.logs,
                cpus=tuple(bench.placement.dependency_cpus),
                engine=engine_path(),
                cache=cache_folder(),
                options=dict(self.options),
                scenario=self.folder.folder,
                variables=dict(spec.variables),
            )
            kind = dependency_class(spec.kind)
            if missing := kind.missing(context):
                raise TouchstoneError(missing, where=f"dependency {name} ({spec.kind})")
            dependency = kind(name, spec.env, dict(spec.settings), context)
            dependencies[name] = dependency
            self.display.step(f"starting {name}")
            dependency.start()


def _as_interrupt(_signal: int, _frame: FrameType | None) -> None:
    """SIGTERM ends a run as Ctrl-C does: cleanly, with a report."""
    raise KeyboardInterrupt(os.getpid())
