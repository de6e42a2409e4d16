"""A service with a package.json: npm or pnpm, its scripts `build` and `start`."""

from __future__ import annotations

import itertools
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from touchstone.failure import UsageError
from touchstone.intake.service.base import APP, DraftInstall, DraftStack, Words, below, first_there, read_text

MARK = "package.json"
_ENTRIES = ("server.js", "index.js", "app.js", "main.js", "src/server.js", "src/index.js", "src/main.js")
_VALUED = ("-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file")
"""Options of node whose value may be a word of its own."""
_SOURCES = ("src", "lib", "routes", "views", "public", "config")


def draft(service: Path) -> DraftStack:
    """Its stack. Raises UsageError if package.json cannot be read."""
    manifest = _manifest(service / MARK)
    scripts = manifest.get("scripts") or {}
    pnpm = (service / "pnpm-lock.yaml").is_file()
    tool = "pnpm" if pnpm else "npm"
    built = "build" in scripts
    words, guessed = _start(service, manifest, scripts)
    install = _install(service, manifest, pnpm=pnpm, built=built)
    if install and not pnpm and not (service / "package-lock.json").is_file():
        guessed = [*guessed, "there is no package-lock.json, so that each installation may get other versions"]
    return DraftStack(
        language="TypeScript" if (service / "tsconfig.json").is_file() else "JavaScript",
        needs={"node": ">=18"} | ({tool: ">=8"} if install or built else {}),
        install=install,
        build=[["pnpm", "--dir", APP, "run", "build"] if pnpm else ["npm", "run", "build", "--prefix", APP]]
        if built
        else (),
        artifacts=_artifacts(service, _entry(words), installed=install is not None),
        run=words,
        guessed=guessed,
    )


def _manifest(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise UsageError(f"it is no JSON: {error}", where=str(path), fix="correct the file") from error
    return held if isinstance(held, dict) else {}


def _install(service: Path, manifest: dict[str, Any], *, pnpm: bool, built: bool) -> DraftInstall | None:
    if not manifest.get("dependencies") and not (built and manifest.get("devDependencies")):
        return None
    leaves = [below("node_modules")]
    if pnpm:
        production = [] if built else ["--prod"]
        files = [below(MARK), below("pnpm-lock.yaml")]
        return DraftInstall([["pnpm", "--dir", APP, "install", "--frozen-lockfile", *production]], files, leaves)
    locked = (service / "package-lock.json").is_file()
    words = ["npm", "ci" if locked else "install", *([] if built else ["--omit=dev"]), "--prefix", APP]
    return DraftInstall([words], [below(MARK), *([below("package-lock.json")] if locked else [])], leaves)


def _start(service: Path, manifest: dict[str, Any], scripts: dict[str, str]) -> tuple[Words, list[str]]:
    """The command as from the service's folder, and what of it is a guess."""
    for name in ("start:prod", "start"):
        words = _split(scripts.get(name, ""))
        if words[:1] == ["node"] and len(words) > 1:
            return words, []
    entry = manifest.get("main") or first_there(service, _ENTRIES) or "server.js"
    return ["node", entry], [f"no script `start` begins with `node FILE`: is {entry} what starts it?"]


def _entry(command: Words) -> str:
    """The file that node runs: the first word that is neither an option nor the value of one."""
    pairs = itertools.pairwise(command)
    return next((word for before, word in pairs if not word.startswith("-") and before not in _VALUED), "")


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


def _artifacts(service: Path, entry: str, *, installed: bool) -> Sequence[str]:
    top = Path(entry).parts[0] if len(Path(entry).parts) > 1 else ""
    own = [below(top)] if top else [below(f"*{Path(entry).suffix}"), *_there(service, _SOURCES)]
    return [*own, below(MARK), *([below("node_modules")] if installed else [])]


def _there(service: Path, names: Sequence[str]) -> list[str]:
    return [below(name) for name in names if (service / name).is_dir()]
