"""A service with a Cargo.toml: a package, or a workspace with one that has a program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from touchstone.intake.service.base import DraftInstall, DraftStack, below, read_text, read_toml
from touchstone.intake.service.deployed import with_arguments
from touchstone.intake.service.workspace import members, place_in, root_of

MARK = "Cargo.toml"
_TEXT = re.compile(r'"(?:\./)?([\w./-]+)"')
_SETTINGS = "config"
"""The folder that holds them by custom, of which sources may name any file, also without its ending."""
_ENDINGS = (".toml", ".yaml", ".yml", ".json", ".ron")
_ROCKETS = "Rocket.toml"
"""What a framework reads that no source names."""


def draft(service: Path) -> DraftStack:
    """Its stack. Raises UsageError if a Cargo.toml cannot be read."""
    root = root_of(service, _members) or service
    programs = list(dict.fromkeys(_programs(service)))
    package, program = programs[0] if programs else (service.resolve().name, service.resolve().name)
    guessed = [f"there are further programs: {', '.join(name for _, name in programs[1:])}"] if programs[1:] else []
    if not programs:
        guessed = ["no program was found: name its package and its binary"]
    settings, at_top = _settings(service), False
    if not settings and root != service:
        settings = _settings(service, root)
        at_top = bool(settings)
    if settings:
        where = ", from the workspace's top, where it is started" if at_top else ""
        guessed = [*guessed, f"it seems to read {', '.join(settings)}{where}"]
    place = place_in(service, root)
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
        artifacts=["server", *(below(name, "" if at_top else place) for name in settings)],
        run=["./server"],
        name=package,
        place=place,
        at_top=at_top,
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


def _settings(service: Path, folder: Path | None = None) -> Sequence[str]:
    """What of a folder, by default its own, the service's sources name as settings that it reads as it starts."""
    folder = folder or service
    packages = (service, *members(service, _members(service)))
    named = {_ROCKETS}
    for source in (source for package in packages for source in sorted(package.glob("src/**/*.rs"))):
        named.update(_TEXT.findall(read_text(source)))
    own = {_SETTINGS} if any(Path(name).parts[:1] == (_SETTINGS,) for name in named) else set()
    files = {
        name for name in named if name.endswith(_ENDINGS) and name != MARK and not name.startswith(f"{_SETTINGS}/")
    }
    return sorted(name for name in own | files if ".." not in Path(name).parts and (folder / name).exists())
