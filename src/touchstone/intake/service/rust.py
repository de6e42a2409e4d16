"""A service with a Cargo.toml: a package, or a workspace with one that has a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from touchstone.intake.service.base import DraftInstall, DraftStack, below, read_toml
from touchstone.intake.service.deployed import with_arguments
from touchstone.intake.service.workspace import members, place_in, root_of

MARK = "Cargo.toml"


def draft(service: Path) -> DraftStack:
    """Its stack. Raises UsageError if a Cargo.toml cannot be read."""
    root = root_of(service, _members) or service
    programs = list(dict.fromkeys(_programs(service)))
    package, program = programs[0] if programs else (service.resolve().name, service.resolve().name)
    guessed = [f"there are further programs: {', '.join(name for _, name in programs[1:])}"] if programs[1:] else []
    if not programs:
        guessed = ["no program was found: name its package and its binary"]
    locked = ["--locked"] if (root / "Cargo.lock").is_file() else []
    manifest = ["--manifest-path", below(MARK)]
    drafted = DraftStack(
        language="Rust",
        needs={"cargo": ">=1.75", "cc": ">=9"},
        install=DraftInstall([["cargo", "fetch", *locked, *manifest]]),
        build=[
            ["cargo", "build", "--release", "--offline", *locked, *manifest, "-p", package, "--bin", program],
            ["cp", f"{{cache}}/target/release/{program}", "server"],
        ],
        build_env={"CARGO_TARGET_DIR": "{cache}/target"},
        artifacts=["server"],
        run=["./server"],
        name=package,
        place=place_in(service, root),
        guessed=guessed,
    )
    return with_arguments(drafted, service)


def _programs(service: Path) -> Iterator[tuple[str, str]]:
    """Package and name of each program."""
    for folder in (service, *members(service, _members(service))):
        if not (folder / MARK).is_file():
            continue
        manifest = read_toml(folder / MARK)
        package = manifest.get("package", {}).get("name")
        if not isinstance(package, str):
            continue
        declared = [one["name"] for one in manifest.get("bin", []) if "name" in one]
        yield from ((package, name) for name in dict.fromkeys([*declared, *_found(folder, package, declared)]))


def _members(folder: Path) -> Sequence[str]:
    """The packages of a folder's workspace, as patterns."""
    workspace = read_toml(folder / MARK).get("workspace", {}) if (folder / MARK).is_file() else {}
    return [*workspace.get("members", []), *(f"!{left_out}" for left_out in workspace.get("exclude", []))]


def _found(folder: Path, package: str, declared: Sequence[str]) -> Iterator[str]:
    """The programs that Cargo takes from their places, without a word in the manifest."""
    if (folder / "src/main.rs").is_file() and not declared:
        yield package
    yield from (path.stem for path in sorted(folder.glob("src/bin/*.rs")))
    yield from (path.parent.name for path in sorted(folder.glob("src/bin/*/main.rs")))
