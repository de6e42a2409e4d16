"""A service with a go.mod: the package `main` at its top, or one below cmd/."""

from __future__ import annotations

import re
from pathlib import Path

from touchstone.intake.service.base import APP, DraftInstall, DraftStack, below, read_text
from touchstone.intake.service.deployed import with_arguments

MARK = "go.mod"
_MAIN = re.compile(r"^package main\b", re.MULTILINE)


def draft(service: Path) -> DraftStack:
    """Its stack."""
    places = [f"./{path.relative_to(service)}" if path != service else "." for path in _mains(service)]
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
        guessed=guessed,
    )
    return with_arguments(drafted, service)


def _mains(service: Path) -> list[Path]:
    folders = [service, *sorted(path for path in service.glob("cmd/*") if path.is_dir())]
    return [folder for folder in folders if any(_MAIN.search(read_text(file)) for file in _sources(folder))]


def _sources(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.glob("*.go")) if not file.name.endswith("_test.go")]
