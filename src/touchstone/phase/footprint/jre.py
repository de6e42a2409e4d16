"""A JRE with the modules that a jar uses, and no others."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from touchstone.failure import TouchstoneError


class JreError(TouchstoneError):
    """jdeps or jlink failed."""


def used_modules(java_home: Path, jars: Iterable[Path]) -> list[str]:
    """The JDK's modules that the jars' classes name, by jdeps. What is found by reflection alone is not seen."""
    found: set[str] = set()
    for jar in jars:
        printed = _run(
            [
                *(str(java_home / "bin/jdeps"), "-q", "--ignore-missing-deps", "--multi-release", "base"),
                *("--print-module-deps", str(jar)),
            ]
        )
        found |= {name for name in printed.strip().split(",") if name}
    return sorted(found)


def make_jre(java_home: Path, modules: Sequence[str], target: Path) -> None:
    """Let jlink make it, without debug information, headers and manual pages, and without a CDS archive."""
    _run(
        [
            *(str(java_home / "bin/jlink"), "--add-modules", ",".join(modules), "--output", str(target)),
            *("--strip-java-debug-attributes", "--no-header-files", "--no-man-pages"),
        ]
    )


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise JreError(
            f"{Path(command[0]).name} ended with code {done.returncode}: {(done.stderr or done.stdout).strip()[-800:]}",
            fix="use a complete JDK: it has both",
        )
    return done.stdout
