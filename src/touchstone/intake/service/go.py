"""A service with a go.mod: the package `main` at its top or below cmd/ that listens."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from touchstone.intake.service.base import APP, DraftInstall, DraftStack, below, read_text
from touchstone.intake.service.deployed import with_arguments

MARK = "go.mod"
_MAIN = re.compile(r"^package main\b", re.MULTILINE)
_MODULE = re.compile(r"^module\s+(\S+?)(?:/v\d+)?\s*$", re.MULTILINE)
_LISTENS = re.compile(r"\bnet\.Listen|ListenAndServe|\.(?:Run|Listen|Start|Serve)\(")
_SERVERS = ("server", "api", "web", "http")


def draft(service: Path) -> DraftStack:
    """Its stack."""
    module = _MODULE.search(read_text(service / MARK))
    name = PurePath(module[1]).name if module else ""
    found = [path.relative_to(service).as_posix() for path in _mains(service, name)]
    places = [f"./{path}" if path != "." else path for path in found]
    place = places[0] if places else "."
    guessed = [f"there are further programs: {', '.join(places[1:])}"] if len(places) > 1 else []
    if not places:
        guessed = ["no `package main` was found at its top or below cmd/: name its folder in `build`"]
    summed = (service / "go.sum").is_file()
    fetch = ["go", "mod", "download", "-C", APP]
    drafted = DraftStack(
        language="Go",
        needs={"go": ">=1.21"},
        install=DraftInstall([fetch], [below(MARK), below("go.sum")]) if summed else None,
        build=[["go", "build", "-C", APP, "-trimpath", "-o", "../server", place]],
        artifacts=["server"],
        run=["./server"],
        name=name,
        others=found[1:],
        guessed=guessed,
    )
    return with_arguments(drafted, service)


def _mains(service: Path, name: str) -> list[Path]:
    """The folders of its programs: first who listens, and of these who is called as a server or as the module is."""
    folders = [service, *sorted(path for path in service.glob("cmd/*") if path.is_dir())]
    held = {folder: "\n".join(map(read_text, _sources(folder))) for folder in folders}

    def order(folder: Path) -> tuple[bool, bool]:
        return not _LISTENS.search(held[folder]), folder != service and folder.name not in (*_SERVERS, name)

    return sorted((folder for folder in folders if _MAIN.search(held[folder])), key=order)


def _sources(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.glob("*.go")) if not file.name.endswith("_test.go")]
