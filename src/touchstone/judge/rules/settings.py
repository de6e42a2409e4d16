"""Rules on settings: those of dependencies, and tuning that changes a result."""

from __future__ import annotations

import re
from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.setting import normal
from touchstone.judge.reading.unequal_pair import minority
from touchstone.judge.rule import Fired, on_run, on_sample
from touchstone.record.sample import TARE, Sample


@on_sample(
    "dependency-settings-not-as-asked",
    Severity.INVALID,
    title="A dependency did not have the scenario's settings",
    threshold=(
        "a setting, read back from a dependency or from the service's own sessions, differs from the one requested. "
        "Units and spellings of yes and no do not count"
    ),
    threshold_reason="settings are exact values. Different spellings of one value count as equal",
    next_step="Find out what changed the setting: the contender, or a limit of the dependency.",
    phases=None,
)
def dependency_settings_not_as_asked(sample: Sample, case: Case) -> Iterator[Fired]:
    """Settings are set before the measurement and read back afterwards.

    The values read back are those that the measurement used.
    """
    overrides = sample.spec.dependency_settings
    for dependency in sample.dependencies:
        asked = dependency.asked | (overrides.get(dependency.name) or {})
        wrong = {
            key: [value, dependency.settings[key]]
            for key, value in asked.items()
            if key in dependency.settings and normal(value) != normal(dependency.settings[key])
        }
        if wrong:
            described = ", ".join(f"{key} is {found!r} instead of {value!r}" for key, (value, found) in wrong.items())
            yield Fired(
                f"{dependency.name} has other settings than the scenario: {described}", evidence={"settings": wrong}
            )


@on_run(
    "dependency-settings-unequal",
    Severity.INVALID,
    title="Dependencies had different settings for different contenders",
    threshold=(
        "under the same load, a setting differs between contenders. The dependency reports the setting, or a "
        "contender's own sessions show it. If most contenders agree, only those that differ are invalid"
    ),
    threshold_reason="the scenario fixes the settings, so any difference counts",
    next_step="Find the contender that changes the setting (a PRAGMA, a SET, a client option), and remove the change.",
)
def dependency_settings_unequal(case: Case) -> Iterator[Fired]:
    """Durability, journal mode and pool size can change throughput several times over.

    A contender with a less strict setting has an unfair advantage.
    """
    seen: dict[tuple[str | None, str, str], dict[str, set[str]]] = {}
    for sample in case.run.samples:
        if sample.phase != "load" or sample.contender == TARE:
            continue
        for dependency in sample.dependencies:
            for setting, value in dependency.settings.items():
                by_value = seen.setdefault((sample.load, dependency.name, setting), {})
                by_value.setdefault(str(normal(value)), set()).add(sample.contender)
    for (load, name, setting), by_value in seen.items():
        if len(by_value) < 2:
            continue
        described = "; ".join(f"{value} for {', '.join(sorted(c))}" for value, c in sorted(by_value.items()))
        contenders = sorted(set.union(*by_value.values()))
        had = {one: frozenset(value for value, by in by_value.items() if one in by) for one in contenders}
        for odd in minority(had) or [None]:
            yield Fired(
                f"the setting {setting} of {name} differs: {described}",
                load=load,
                contender=odd,
                evidence={"setting": setting, "values": {v: sorted(c) for v, c in by_value.items()}},
            )


@on_run(
    "tables-unequal",
    Severity.SUSPECT,
    title="One contender has different indexes or storage in a table",
    threshold=(
        "under the same load, a table that every contender has differs in indexes, triggers or storage. The "
        "dependency reports these after the load. Names of indexes do not count. If most contenders agree, only "
        "those that differ are suspect"
    ),
    threshold_reason=(
        "the scenario gives every contender the same tables, so any difference is a change by a contender"
    ),
    next_step=(
        "Add the index to the scenario's schema for all contenders, or remove the code that creates it from the "
        "contender."
    ),
)
def tables_unequal(case: Case) -> Iterator[Fired]:
    """An additional index or an unlogged table can make one contender several times faster.

    Responses and settings do not show this.
    """
    seen: dict[tuple[str | None, str], dict[str, dict[str, list[str]]]] = {}
    for sample in case.run.samples:
        if sample.phase == "load" and sample.contender != TARE:
            for dependency in sample.dependencies:
                if dependency.structure:
                    seen.setdefault((sample.load, dependency.name), {})[sample.contender] = dependency.structure
    for (load, name), by_contender in seen.items():
        for table in sorted(set.intersection(*(set(tables) for tables in by_contender.values()))):
            had = {one: tuple(tables[table]) for one, tables in by_contender.items()}
            for odd in minority(had):
                yield Fired(
                    f"table {table} of {name} has {_differences(had)}",
                    load=load,
                    contender=odd,
                    figures=[*SPEED, *CPU],
                    evidence={"table": table, "structure": {one: list(parts) for one, parts in had.items()}},
                )


def _differences(had: dict[str, tuple[str, ...]]) -> str:
    """By contender, the parts that not every contender has."""
    common = set.intersection(*(set(parts) for parts in had.values()))
    own = {one: [part for part in parts if part not in common] for one, parts in had.items()}
    return "; ".join(f"{', '.join(parts) or 'nothing more'} for {one}" for one, parts in sorted(own.items()))


_SETTINGS_UNEQUAL_TUNING = re.compile(
    r"POOL|TIMEOUT|KEEP_?ALIVE|SYNCHRONOUS|JOURNAL|DURAB|BUSY|MAX_|LIMIT|THREADS|WORKERS|LOG_?LEVEL|COMPRESS|GZIP"
)
_SETTINGS_UNEQUAL_PLACES = re.compile(r"PATH|URL|HOST|PORT|BOOTSTRAP|FOLDER|DIR|HOME")


@on_run(
    "settings-unequal",
    Severity.SUSPECT,
    title="Contenders had different settings",
    threshold=(
        "all contenders have an environment variable about pools, threads, timeouts, keep-alive, durability, limits, "
        "compression or log levels, but with different values. If most contenders agree, only those that differ are "
        "suspect"
    ),
    threshold_reason=(
        "a variable that every contender has should have the same value. A variable that only one stack has is a "
        "choice of that stack"
    ),
    next_step="Set the variable once, in the scenario's `settings`, and remove it from stack.toml.",
)
def settings_unequal(case: Case) -> Iterator[Fired]:
    """A larger pool or a longer timeout changes the result without a difference in the code."""
    for load in case.loads:
        env: dict[str, dict[str, str]] = {}
        for group in case.groups_of("load", load):
            if group.samples[-1].process.env:
                env[group.contender] = group.samples[-1].process.env
        if len(env) < 2:
            continue
        for name in sorted(set.intersection(*(set(e) for e in env.values()))):
            values = {contender: e[name] for contender, e in env.items()}
            if not _SETTINGS_UNEQUAL_TUNING.search(name) or _SETTINGS_UNEQUAL_PLACES.search(name):
                continue
            described = ", ".join(f"{value} for {contender}" for contender, value in values.items())
            for odd in minority(values):
                yield Fired(
                    f"the setting {name} differs: {described}",
                    load=load,
                    contender=odd,
                    evidence={"variable": name, "values": values},
                )
