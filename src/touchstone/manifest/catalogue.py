"""Finds the scenarios and their stacks: those of touchstone, and a user's own in any folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.failure import UsageError, did_you_mean
from touchstone.manifest.files import SCENARIO_FILE, STACK_FILE, scenarios_in
from touchstone.manifest.outside import ExternalService
from touchstone.manifest.reader import ManifestError, read_manifest
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.stack import Stack, Variant

CONTAINERS = "podman-or-docker"
"""The tool that a variant needs that is an image."""


@dataclass(frozen=True)
class Contender:
    """A stack in one variant: the thing that is compared. Or a service that runs already, which has no stack folder."""

    stack: Stack
    variant_name: str
    outside: ExternalService | None = None

    @property
    def name(self) -> str:
        """`stack/variant`; of a service that runs already, the name that it was given."""
        return self.outside.name if self.outside else f"{self.stack.name}/{self.variant_name}"

    @property
    def variant(self) -> Variant:
        """The variant with the keys of its base filled in."""
        return resolved(self.stack, self.variant_name)

    @property
    def needs(self) -> dict[str, str]:
        """Tools and their version ranges, of the stack, the variant and its bases."""
        if self.stack.variants[self.variant_name].image is not None:
            # What a stack's other variants are built with, an image brings along.
            return {CONTAINERS: ""}
        needed = dict(self.stack.needs)
        for variant in lineage(self.stack, self.variant_name):
            needed |= variant.needs
        return needed


@dataclass(frozen=True)
class ScenarioFolder:
    """A scenario with its stacks, as found on disk."""

    folder: Path
    scenario: Scenario
    stacks: tuple[Stack, ...]


def lineage(stack: Stack, name: str) -> list[Variant]:
    """The variant's bases, the most basic first, then itself. Raises ManifestError on a circle."""
    chain: list[str] = []
    current: str | None = name
    while current is not None:
        if current in chain:
            raise ManifestError(
                f"variants {' -> '.join([*chain, current])} are based on each other",
                where=str(stack.folder / STACK_FILE),
                fix="remove `base` from one of them",
            )
        chain.append(current)
        current = stack.variants[current].base
    return [stack.variants[link] for link in reversed(chain)]


def resolved(stack: Stack, name: str) -> Variant:
    """The variant with its base's run, artifacts, environment and the like where it has none."""
    own = stack.variants[name]
    if own.base is None:
        return own
    base = resolved(stack, own.base)
    return own.model_copy(
        update={
            "run": own.run or base.run,
            "run_in": own.run_in or base.run_in,
            "port": own.port or base.port,
            "grpc_port": own.grpc_port or base.grpc_port,
            "artifacts": own.artifacts or base.artifacts,
            "footprint": own.footprint or base.footprint,
            "env": base.env | own.env,
            # A native image takes other heap flags than the JVM that it was built from.
            "memory_settings": own.memory_settings or ([] if own.native else base.memory_settings),
            # A program without its own build is the base's, and so is its copy.
            "profiled": own.profiled or (None if own.build else base.profiled),
            "extra_configuration": own.extra_configuration or base.extra_configuration,
        }
    )


def read_scenario_folder(folder: Path) -> ScenarioFolder:
    """Read scenario.toml and every stack.toml one level below. Raises ManifestError."""
    scenario = read_manifest(folder / SCENARIO_FILE, Scenario)
    stacks = []
    for path in sorted(folder.glob(f"*/{STACK_FILE}")):
        stack = read_manifest(path, Stack).model_copy(update={"folder": path.parent.resolve()})
        if stack.scenario != scenario.name:
            raise ManifestError(
                f"key 'scenario' is {stack.scenario!r}, but the folder belongs to {scenario.name!r}",
                where=str(path),
                fix=f"write scenario = {scenario.name!r}, or move the folder",
            )
        for name in stack.variants:
            lineage(stack, name)
        stacks.append(stack)
    names = [stack.name for stack in stacks]
    for name in names:
        if names.count(name) > 1:
            raise ManifestError(f"two stacks are called {name!r}", where=str(folder), fix="rename one of them")
    return ScenarioFolder(folder.resolve(), scenario, tuple(stacks))


def find_scenario(name_or_folder: str, root: Path) -> ScenarioFolder:
    """A scenario by its name below `root`, or by a folder. Raises UsageError that lists what there is."""
    known = scenarios_in(root)
    if name_or_folder in known:
        return read_scenario_folder(known[name_or_folder])
    folder = Path(name_or_folder)
    if (folder / SCENARIO_FILE).is_file():
        return read_scenario_folder(folder)
    hint = did_you_mean(name_or_folder, known)
    raise UsageError(
        f"there is no scenario {name_or_folder!r}, nor a folder of that name with a {SCENARIO_FILE}",
        fix=f"{hint}known scenarios: {', '.join(known) or 'none'}; `touchstone new` makes one",
    )


def select_contenders(found: ScenarioFolder, asked: Sequence[str], *, exhibits: bool = False) -> list[Contender]:
    """The contenders asked for as `stack` or `stack/variant`; the usual stacks' defaults if none is asked.

    `all` asks for the defaults of every stack. Raises UsageError.
    """
    stacks = {stack.name: stack for stack in found.stacks}
    if not stacks:
        raise ManifestError(
            "the scenario has no stack",
            where=str(found.folder),
            fix=f"add a folder with a {STACK_FILE}, or measure what runs already by --url NAME=URL",
        )
    if not asked:
        usual = [stack for stack in found.stacks if stack.by_default] or found.stacks
        chosen = [Contender(s, v) for s in usual for v in _default_variants(s)]
    elif list(asked) == ["all"]:
        chosen = [Contender(s, v) for s in found.stacks for v in _default_variants(s)]
    else:
        chosen = []
        for word in asked:
            stack_name, _, variant_name = word.partition("/")
            if stack_name not in stacks:
                raise _unknown("stack", stack_name, stacks)
            stack = stacks[stack_name]
            if variant_name and variant_name not in stack.variants:
                raise _unknown(f"variant of {stack_name}", variant_name, stack.variants)
            chosen += [Contender(stack, v) for v in ([variant_name] if variant_name else _default_variants(stack))]
    if exhibits:
        chosen += [Contender(s, v) for s in found.stacks for v, variant in s.variants.items() if variant.exhibit]
        chosen += [
            Contender(c.stack, c.variant.sound_twin) for c in chosen if c.variant.exhibit and c.variant.sound_twin
        ]
    return list({contender.name: contender for contender in chosen}.values())


def outside_contenders(found: ScenarioFolder, services: Sequence[ExternalService]) -> list[Contender]:
    """Services that run already, as contenders. Raises UsageError if a name is taken."""
    taken = {stack.name for stack in found.stacks}
    chosen = []
    for service in services:
        if service.name in taken:
            raise UsageError(
                f"two contenders would be called {service.name!r}",
                fix="give the service at " + service.origin + " another name; it need not be that of its stack",
            )
        taken.add(service.name)
        # What stands for the stack says nothing of a build, since nobody here builds it.
        variant = Variant(title="started by somebody else", run=[service.origin])
        stack = Stack(
            schema=1,
            name=service.name,
            scenario=found.scenario.name,
            title=f"{service.name} at {service.origin}",
            language="",
            variants={"outside": variant},
        )
        chosen.append(Contender(stack, "outside", service))
    return chosen


def _default_variants(stack: Stack) -> list[str]:
    return list(stack.default_variants) or [n for n, v in stack.variants.items() if not v.native and not v.exhibit]


def _unknown(
    what: str, name: str, known: Sequence[str] | dict[str, object] | dict[str, Stack] | dict[str, Variant]
) -> UsageError:
    hint = did_you_mean(name, known)
    return UsageError(f"there is no {what} {name!r}", fix=f"{hint}there are: {', '.join(known)}")
