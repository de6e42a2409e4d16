"""The installation of what a stack depends on: carried out apart, kept by its content, laid into the work folder."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from touchstone.manifest.sources import files_like, source_files
from touchstone.manifest.stack import Install
from touchstone.phase.build.kept import locked_folder, recorded
from touchstone.phase.build.metering import Meter
from touchstone.phase.build.workshop import BuildError, Workshop, copy_into, tools_in_words
from touchstone.record.evidence.build import InstallEvidence
from touchstone.toolchain.cache import cache_folder

_RECORD = "install.json"
_LARGEST_SCRIPT = 65536


def install(workshop: Workshop, wanted: Install, *, fresh: bool) -> InstallEvidence:
    """Install, or find an equal installation, and lay what it leaves into the work folder. Raises BuildError.

    An installation that leaves nothing of its own fills the package manager's store. Whether that still holds
    everything only the package manager can tell, so that it is asked again for each build.
    """
    files = _files(workshop, wanted)
    key = _key(workshop, wanted, files)
    home = cache_folder() / "installs" / f"{workshop.stack.scenario}-{key}"
    record = home / _RECORD
    with locked_folder(home):
        kept = recorded(record, InstallEvidence) if wanted.leaves and not fresh else None
        if kept is not None:
            evidence = kept.model_copy(update={"cached": True})
        else:
            evidence = _carry_out(replace(workshop, home=home), wanted, files, key)
            record.write_text(evidence.model_dump_json(indent=1), encoding="utf-8")
        for name in wanted.leaves:
            _lay(home / "work", workshop.work, name)
    return evidence


def _files(workshop: Workshop, wanted: Install) -> list[tuple[Path, Path]]:
    if not wanted.files:
        return source_files(workshop.stack)
    found: dict[Path, Path] = {}
    for pattern in wanted.files:
        like = files_like(workshop.stack, pattern)
        if not like:
            raise BuildError(
                f"install.files names {pattern}, which does not exist",
                where=workshop.named,
                fix="make the lock file, or correct the name in stack.toml",
            )
        found |= {relative: path for path, relative in like}
    return [(path, relative) for relative, path in found.items()]


def _key(workshop: Workshop, wanted: Install, files: list[tuple[Path, Path]]) -> str:
    digest = hashlib.sha256(json.dumps([wanted.commands, wanted.leaves, wanted.env]).encode())
    for path, relative in files:
        digest.update(str(relative).encode() + b"\0" + path.read_bytes())
    digest.update(tools_in_words(workshop.tools))
    return digest.hexdigest()[:16]


def _carry_out(aside: Workshop, wanted: Install, files: list[tuple[Path, Path]], key: str) -> InstallEvidence:
    """Run the commands in a folder with their files alone, and keep the declared results."""
    shutil.rmtree(aside.home, ignore_errors=True)
    aside.cache.mkdir(parents=True)
    aside.work.mkdir()
    for path, relative in files:
        copy_into(path, aside.work / relative)
    meter = Meter()
    aside.run(wanted.commands, wanted.env, meter, "install")
    for name in wanted.leaves:
        if not (aside.work / name).exists():
            raise BuildError(
                f"the installation left no {name}",
                where=aside.named,
                fix=f"correct `leaves` or `commands` of install in stack.toml; the log: {aside.log}",
            )
    shutil.rmtree(aside.cache, ignore_errors=True)
    _keep_only(aside.work, [aside.work / name for name in wanted.leaves])
    return InstallEvidence(
        commands=wanted.commands,
        files=wanted.files,
        leaves=wanted.leaves,
        key=key,
        seconds=meter.wall_s,
        measured_at=datetime.now(UTC),
    )


def _keep_only(folder: Path, kept: list[Path]) -> None:
    for path in list(folder.iterdir()):
        if path in kept:
            continue
        if path.is_dir() and not path.is_symlink():
            below = [k for k in kept if path in k.parents]
            _keep_only(path, below) if below else shutil.rmtree(path)
        else:
            path.unlink()


def _lay(source: Path, work: Path, name: str) -> None:
    """Copy a file or folder, and rewrite references to its old place."""
    origin, target = source / name, work / name
    if not origin.is_dir():
        copy_into(origin, target)
        return
    shutil.copytree(origin, target, symlinks=True, dirs_exist_ok=True)
    for path in target.rglob("*"):
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST_SCRIPT:
            continue
        content = path.read_bytes()
        # Scripts of a virtual environment begin with the absolute path of its Python.
        if (content.startswith(b"#!") or path.suffix in {".cfg", ".pth"}) and str(source).encode() in content:
            path.write_bytes(content.replace(str(source).encode(), str(work).encode()))
