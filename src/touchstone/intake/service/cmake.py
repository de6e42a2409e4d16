"""A service with a CMakeLists.txt: the first program that it, or one below it, adds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from touchstone.intake.service.base import APP, DraftStack
from touchstone.intake.service.deployed import Deployment, with_arguments
from touchstone.intake.service.reading import read_source, read_text

MARK = "CMakeLists.txt"
_OPTIONS = ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY={work}/out/bin")
_PROJECT = re.compile(r"\bproject\s*\(\s*([\w.+-]+)([^)]*)\)", re.IGNORECASE)
_PROGRAM = re.compile(r"\badd_executable\s*\(\s*([\w.+-]+|\$\{(?:CMAKE_)?PROJECT_NAME\})(?!\s+ALIAS)", re.IGNORECASE)
_NOT_SHIPPED = ("test", "bench", "example", "build", "out", "third_party", "vendor", ".")
_ONLY_C = re.compile(r"\bC\b(?!XX)")


def draft(service: Path, found: Deployment) -> DraftStack:
    """Its stack, built by Ninja."""
    top = read_text(service / MARK)
    programs = list(dict.fromkeys(_programs(service)))
    program = programs[0] if programs else service.resolve().name
    guessed = [f"there are further programs: {', '.join(programs[1:])}"] if programs[1:] else []
    if not programs:
        guessed = ["no add_executable was found: name its target"]
    drafted = DraftStack(
        language="C++" if _speaks_cxx(top) else "C",
        needs={"cmake": ">=3.16", "ninja": ">=1.10", **({"cxx": ">=9"} if _speaks_cxx(top) else {"cc": ">=9"})},
        build=[
            ["cmake", "-S", APP, "-B", "out", "-G", "Ninja", *_OPTIONS],
            ["cmake", "--build", "out", "--target", program],
            ["cp", f"out/bin/{program}", "server"],
        ],
        artifacts=["server"],
        run=["./server"],
        guessed=guessed,
    )
    return with_arguments(drafted, found)


def _speaks_cxx(top: str) -> bool:
    """Whether its project has C++, which it has if it names no languages."""
    found = _PROJECT.search(top)
    return found is None or "CXX" in found[2] or not _ONLY_C.search(found[2])


def _programs(service: Path) -> Iterator[str]:
    """The targets of its programs, those of the highest folders first."""
    project = _PROJECT.search(read_text(service / MARK))
    for pattern in (MARK, f"*/{MARK}", f"*/*/{MARK}"):
        for file in sorted(service.glob(pattern)):
            held = read_source(file)
            if any(part.startswith(_NOT_SHIPPED) for part in file.relative_to(service).parts):
                continue
            own = _PROJECT.search(held) or project
            for found in _PROGRAM.finditer(held):
                name = own[1] if found[1].startswith("$") and own else found[1]
                if not name.lower().startswith(_NOT_SHIPPED):
                    yield name
