"""Takes an entry of another benchmark over: its files as a stack, its tests as the scenario that it stands in."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.failure import TouchstoneError, UsageError
from touchstone.intake.draft import Draft
from touchstone.intake.entry import BenchmarkEntry, EntryVariant, SkippedItem
from touchstone.manifest.catalogue import read_scenario_folder
from touchstone.manifest.files import SCENARIO_FILE, STACK_FILE
from touchstone.manifest.reader import read_manifest
from touchstone.manifest.scenario import Scenario

Wanted = Mapping[str, Sequence[str]]
"""What a scenario asks: the names of tests, each with the targets of its requests."""


@dataclass(frozen=True)
class AdoptedEntry:
    """What was written, and what was not taken over."""

    written: Sequence[Path]
    left_out: Sequence[SkippedItem]


def adopt(entry: BenchmarkEntry, folder: Path, asked: Sequence[str] = ()) -> AdoptedEntry:
    """Make a stack of the entry in a scenario's folder. Where there is no scenario, it is drafted from the tests asked.

    Raises UsageError where none of the entry's images can be asked what the scenario asks.
    """
    home, scenario = folder / entry.name, folder / SCENARIO_FILE
    if home.exists():
        raise UsageError("the stack's folder exists already", where=str(home), fix="remove it, or give another --out")
    if entry.folder.resolve() in (folder.resolve(), *folder.resolve().parents):
        raise UsageError("the scenario would lie in the entry itself", where=str(folder), fix="give another --out")
    if not any(variant.tests for variant in entry.variants):
        what = f"{entry.title} takes part in nothing that touchstone can ask"
        raise UsageError(what, where=str(entry.folder), fix=_listed("see what is left out", entry.left_out))
    wanted = _asked_there(entry, scenario, asked) if scenario.exists() else _asked_anew(entry, asked)
    fitting = [variant for variant in entry.variants if not _lacking(variant, wanted)]
    unfit = list(_unfit(entry, wanted))
    if not fitting:
        what = f"{entry.title} does not take part in all that is asked ({', '.join(wanted)})"
        fix = "give another --out, where --test names what is asked"
        raise UsageError(what, where=str(entry.folder), fix=_listed(fix, unfit))
    written = [] if scenario.exists() else [_draft(entry, fitting[0], wanted).write(folder)]
    stack = _copy(entry, home, entry.stack_toml(read_manifest(scenario, Scenario).name, fitting))
    read_scenario_folder(folder)
    more = dict.fromkeys(name for variant in fitting for name in variant.tests if name not in wanted)
    others = [SkippedItem(f"the test {name}", f"{scenario} does not ask it") for name in more]
    return AdoptedEntry([*written, stack], [*unfit, *others, *entry.left_out])


def _copy(entry: BenchmarkEntry, home: Path, stack_toml: str) -> Path:
    """Lay the entry's files into a new folder, with a stack.toml; its path. Nothing is left if that fails."""
    try:
        shutil.copytree(entry.folder, home, ignore=shutil.ignore_patterns(".git"), ignore_dangling_symlinks=True)
        (home / STACK_FILE).write_text(stack_toml, encoding="utf-8")
    except (OSError, shutil.Error) as error:
        shutil.rmtree(home, ignore_errors=True)
        fix = "see that the entry can be read, or give another --out"
        raise TouchstoneError(f"the entry cannot be copied: {error}", where=str(home), fix=fix) from error
    return home / STACK_FILE


def _asked_anew(entry: BenchmarkEntry, asked: Sequence[str]) -> Wanted:
    """The tests that were named, or those of the first image that takes part in any. The requests are the first's."""
    own = {name: test.targets for variant in reversed(entry.variants) for name, test in variant.tests.items()}
    for name in asked:
        if name not in own:
            what = f"{entry.title} takes part in no test {name!r} that touchstone can ask"
            raise UsageError(what, where="--test", fix=f"there are: {', '.join(own)}")
    names = asked or list(next(variant for variant in entry.variants if variant.tests).tests)
    return {name: own[name] for name in names}


def _asked_there(entry: BenchmarkEntry, scenario: Path, asked: Sequence[str]) -> Wanted:
    """The benchmark's tests among the loads of a scenario that is there."""
    if asked:
        fix = "leave --test out, or give another --out"
        raise UsageError("the scenario that is there says what is asked", where=str(scenario), fix=fix)
    loads = read_manifest(scenario, Scenario).loads
    wanted = {name: [one.target for one in loads[name].requests] for name in loads if name in entry.known}
    if not wanted:
        what = f"the scenario that is there has no test of {entry.benchmark} among its loads"
        raise UsageError(what, where=str(scenario), fix="give another --out")
    return wanted


def _unfit(entry: BenchmarkEntry, wanted: Wanted) -> Iterator[SkippedItem]:
    for variant in entry.variants:
        if lacking := _lacking(variant, wanted):
            yield SkippedItem(f"the image {variant.name}", f"it does not take part in {' and '.join(lacking)}")


def _lacking(variant: EntryVariant, wanted: Wanted) -> list[str]:
    """The tests that an image does not take part in, or by other requests."""
    return [
        f"{name} at {targets[0]}"
        for name, targets in wanted.items()
        if name not in variant.tests or variant.tests[name].targets != targets
    ]


def _listed(fix: str, left_out: Sequence[SkippedItem]) -> str:
    return "\n    ".join([fix, *map(str, left_out)])


def _draft(entry: BenchmarkEntry, variant: EntryVariant, wanted: Wanted) -> Draft:
    tests = [variant.tests[name] for name in wanted]
    checks = {(one.method, one.target, one.body): one for test in tests for one in test.checks}
    title = f"{entry.benchmark}: {', '.join(wanted)}"
    source = f"the tests of {entry.benchmark}, of which {entry.title} is an entry"
    # An image speaks one protocol on its port: the readiness and the contract are asked in that of the loads.
    protocol = tests[0].load.settings.get("protocol")
    call = next((one for one in checks.values() if "grpc" in one.keys), None)
    loads = [test.load for test in tests]
    return Draft(title, source, list(checks.values()), loads, ready=call, protocol=protocol)
