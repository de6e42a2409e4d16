"""Drafts the stack.toml of an existing service: its command, its port, and the gaps."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from touchstone.intake.service.base import DraftStack
from touchstone.intake.service.checkout import lacking
from touchstone.intake.service.command import UNKNOWN
from touchstone.intake.service.deployed import DeployedPort, deployed
from touchstone.intake.service.language import draft_by_language
from touchstone.intake.service.listening import with_listening_address
from touchstone.intake.service.versions import with_version
from touchstone.manifest.files import STACK_FILE
from touchstone.whole_file import write_whole


def write_stack(drafted: DraftStack, service: Path, home: Path, *, scenario: str) -> Path:
    """Write its stack.toml into a new folder, whose name is the stack's."""
    target = home / STACK_FILE
    source = os.path.relpath(_copied(drafted, service), home.resolve())
    write_whole(target, drafted.toml(home.name, scenario, service.resolve().name, source))
    return target


def draft_service(
    service: Path,
    env: Mapping[str, str] | None = None,
    ports: Sequence[DeployedPort] = (),
    given: Collection[str] = (),
    dockerfile: Path | None = None,
) -> DraftStack:
    """The stack of the service in a folder. Raises UsageError if nothing says how it is built, or no kind does it.

    `env` and `ports` are what is known of its address from elsewhere, `given` the variables that a scenario gives it.
    `dockerfile` is the one that builds it, where another file names it.
    """
    found = deployed(service, dockerfile)
    drafted = draft_by_language(service, found)
    drafted = replace(drafted, wanted=found.wanted, env={**drafted.env, **(env or {})})
    drafted = with_listening_address(drafted, service, [*found.ports, *ports], given)
    drafted = with_version(drafted, _copied(drafted, service))
    open_ends = dict.fromkeys(name for word in drafted.run for name in UNKNOWN.findall(word))
    unfilled = [f"its command has {', '.join(open_ends)}, which nothing gives: write the values"] if open_ends else []
    return replace(drafted, guessed=[*drafted.guessed, *unfilled, *lacking(_copied(drafted, service))])


def _copied(drafted: DraftStack, service: Path) -> Path:
    """The folder that is copied to be built: the service's, or its workspace's."""
    return [service.resolve(), *service.resolve().parents][len(Path(drafted.place).parts)]
