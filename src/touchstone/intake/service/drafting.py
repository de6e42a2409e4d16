"""Which kind of service lies in a folder, and its stack.toml."""

from __future__ import annotations

import os
from pathlib import Path

from touchstone.failure import UsageError
from touchstone.intake.service import cmake, deno, go, jvm, node, node_workspace, python, python_packages, rust
from touchstone.intake.service.base import DraftStack, first_there
from touchstone.intake.service.listening import told
from touchstone.intake.writing import writing
from touchstone.manifest.catalogue import STACK_FILE

_KINDS = ((go.MARK, go.draft), (rust.MARK, rust.draft), (jvm.MARK, jvm.draft), (node_workspace.MARK, node.draft))
"""Languages that are compiled come first: a package.json next to them builds a page."""


def write_stack(drafted: DraftStack, service: Path, home: Path, *, scenario: str) -> Path:
    """Write its stack.toml into a new folder, whose name is the stack's."""
    target = home / STACK_FILE
    with writing(target):
        home.mkdir(parents=True)
        copied = [service.resolve(), *service.resolve().parents][len(Path(drafted.place).parts)]
        source = os.path.relpath(copied, home.resolve())
        target.write_text(drafted.toml(home.name, scenario, service.resolve().name, source), encoding="utf-8")
    return target


def draft_service(service: Path) -> DraftStack:
    """The stack of the service in a folder. Raises UsageError if nothing says how it is built."""
    return told(_draft(service), service)


def _draft(service: Path) -> DraftStack:
    for mark, draft in _KINDS:
        if (service / mark).is_file():
            return draft(service)
    if first_there(service, deno.MARKS):
        return deno.draft(service)
    if first_there(service, python_packages.MARKS):
        return python.draft(service)
    if (service / cmake.MARK).is_file():
        return cmake.draft(service)
    if jar := jvm.prebuilt(service):
        return jvm.draft_prebuilt(jar)
    if gradle := first_there(service, jvm.GRADLE):
        raise UsageError(
            f"{gradle} is not read, and there is no single jar",
            where=str(service),
            fix="build the jar that runs by itself first (./gradlew bootJar): it is drafted as it lies there",
        )
    looked = ", ".join((*(mark for mark, _ in _KINDS), *deno.MARKS, *python_packages.MARKS, cmake.MARK))
    raise UsageError(
        f"nothing says how this service is built: there is none of {looked}, and no single jar",
        where=str(service),
        fix="name the folder that has one, or write its stack.toml (docs/add-a-stack.md); a Dockerfile is an image "
        "(docs/your-service.md, section 8)",
    )
