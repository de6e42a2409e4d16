"""What is deployed if the script `start` compiles for development or relies on a framework."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from touchstone.intake.service.base import Words
from touchstone.intake.service.command import DeployedCommand
from touchstone.intake.service.deployed import with_address
from touchstone.intake.service.node_workspace import scripts_of
from touchstone.intake.service.reading import read_json, table_at, text_at

TYPES = "tsconfig.json"
_TYPED = (".ts", ".mts", ".cts")
_VALUED = ("-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file")
"""Options of node whose value may be a word of its own."""
_NEXT = (".next/[!c]*", "public", "next.config.*")
"""What `next start` reads. Its cache, which the next build has the use of, is called by the only `c` there."""
NUXT = ".output"
"""What Nuxt leaves, with the packages that it needs."""


def entry_of(words: Words) -> str:
    """The file that is run: the first word that is neither an option nor the value of one."""
    pairs = itertools.pairwise(words)
    return next((word for before, word in pairs if not word.startswith("-") and before not in _VALUED), "")


def source_of(words: Words) -> str | None:
    """The source in TypeScript that is compiled as it starts; none if something compiled is run."""
    return next((word for word in words[1:] if PurePath(word).suffix in _TYPED), None)


def shipped(service: Path, found: DeployedCommand, manifest: Mapping[str, Any]) -> tuple[DeployedCommand, list[str]]:
    """The command that starts the build's output, if any, and which parts of it are guesses."""
    program, *rest = found.words
    name, scripts = PurePath(program).name, scripts_of(manifest)
    if name == "node" and "." in rest:
        main = text_at(manifest, "main") or "index.js"
        return replace(found, words=[program, *(main if word == "." else word for word in rest)]), []
    if name == "next" and rest[:1] == ["start"]:
        return with_address(found, "--hostname", "{host}", "--port", "{port}"), []
    if name in ("nuxt", "nuxi") or entry_of(found.words).startswith(f"{NUXT}/"):
        return replace(found, words=["node", f"{NUXT}/server/index.mjs"]), []
    if name == "nest" and rest[:1] == ["start"]:
        return _compiled(found, "nest start", f"{_out(service) or 'dist'}/main.js" if "build" in scripts else None)
    if source := source_of(found.words):
        out = _out(service) if "tsc" in scripts.get("build", "").split() else None
        behind = found.words[found.words.index(source) + 1 :]
        return _compiled(found, f"{name} {source}", f"{out}/{_beside(service, source)}" if out else None, behind)
    return found, []


def _compiled(
    found: DeployedCommand, script: str, entry: str | None, behind: Words = ()
) -> tuple[DeployedCommand, list[str]]:
    """By the file that the build leaves, with the arguments behind it. Marked, and also where there is none."""
    if entry is None:
        return found, [f"`{script}` compiles as it starts, which costs time and memory: better run what a build leaves"]
    guess = f"its script says `{script}`, which compiles as it starts: is {entry} what script `build` leaves?"
    return replace(found, words=["node", entry, *behind]), [guess]


def _options(service: Path) -> Mapping[str, Any]:
    """What tsconfig.json tells the compiler."""
    held = read_json(service / TYPES, comments=True) if (service / TYPES).is_file() else {}
    return table_at(held, "compilerOptions")


def _out(service: Path) -> str | None:
    """The folder that compiled files go to."""
    out = text_at(_options(service), "outDir")
    return PurePath(out).as_posix() if out else None


def _beside(service: Path, source: str) -> str:
    """A source's compiled file within that folder: where it lies below the sources' own."""
    file = PurePath(source)
    root = PurePath(text_at(_options(service), "rootDir") or (file.parts[0] if len(file.parts) > 1 else ""))
    within = file.relative_to(root) if file.is_relative_to(root) else file
    return within.with_suffix(within.suffix.replace("t", "j", 1)).as_posix()


def served_patterns(service: Path, words: Words) -> Sequence[str] | None:
    """What a framework's server reads of its folder, as patterns; none if it is not known."""
    if PurePath(words[0]).name != "next":
        return None
    return [_NEXT[0], *(pattern for pattern in _NEXT[1:] if any(service.glob(pattern)))]
