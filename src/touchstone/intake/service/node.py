"""A service with a package.json: npm, pnpm or yarn, its scripts `build` and `start`."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from touchstone.failure import UsageError
from touchstone.intake.service.base import APP, DraftInstall, DraftStack, Words, below, first_there, read_text
from touchstone.intake.service.deployed import Deployed, command, deployed

MARK = "package.json"
_ENTRIES = ("server.js", "index.js", "app.js", "main.js", "src/server.js", "src/index.js", "src/main.js")
_STARTS = ("start:prod", "start")
_VALUED = ("-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file")
"""Options of node whose value may be a word of its own."""
_PROGRAMS = f"{below('node_modules')}/.bin/"
"""Where the programs of its packages lie."""
_SOURCES = ("src", "lib", "routes", "views", "public", "config")


@dataclass(frozen=True)
class _Manager:
    """What gets the packages and runs scripts."""

    tool: str
    lock: str
    folder: str
    """The option that names the folder to work in."""
    install: Words
    """As the lock file has it."""
    production: Words
    """What leaves out the packages that only a build needs."""
    needs: str = ">=8"

    def words(self, *what: str) -> Words:
        return [self.tool, self.folder, APP, *what]


_NPM = _Manager("npm", "package-lock.json", "--prefix", ["ci"], ["--omit=dev"])
_MANAGERS = (
    _Manager("pnpm", "pnpm-lock.yaml", "--dir", ["install", "--frozen-lockfile"], ["--prod"]),
    _Manager("yarn", "yarn.lock", "--cwd", ["install", "--frozen-lockfile"], ["--production"], ">=1"),
    _NPM,
)
DEPLOYED = {"NODE_ENV": "production"}
"""Without it Express reads its templates anew for each response, and others log for developers."""
_RUNNERS = ("node", *(manager.tool for manager in _MANAGERS))


def draft(service: Path) -> DraftStack:
    """Its stack. Raises UsageError if package.json cannot be read."""
    manifest = _manifest(service / MARK)
    scripts = manifest.get("scripts") or {}
    manager = next((one for one in _MANAGERS if (service / one.lock).is_file()), _NPM)
    built = "build" in scripts
    found, guessed = _start(service, manifest, scripts)
    whole = built or found.words[0].startswith(_PROGRAMS)
    install = _install(service, manifest, manager, whole=whole)
    if install and not (service / manager.lock).is_file():
        guessed = [*guessed, f"there is no {manager.lock}, so that each installation may get other versions"]
    return DraftStack(
        language="TypeScript" if (service / "tsconfig.json").is_file() else "JavaScript",
        needs={"node": ">=18"} | ({manager.tool: manager.needs} if install or built else {}),
        install=install,
        build=[manager.words("run", "build")] if built else (),
        artifacts=_artifacts(service, _entry(found.words), installed=install is not None),
        run=found.words,
        env={**DEPLOYED, **found.env},
        guessed=guessed,
    )


def _manifest(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise UsageError(f"it is no JSON: {error}", where=str(path), fix="correct the file") from error
    return held if isinstance(held, dict) else {}


def _install(service: Path, manifest: dict[str, Any], manager: _Manager, *, whole: bool) -> DraftInstall | None:
    """How its packages are got: all of them, or those alone that it runs with."""
    if not manifest.get("dependencies") and not (whole and manifest.get("devDependencies")):
        return None
    locked = (service / manager.lock).is_file()
    what = manager.install if locked else ["install"]
    files = [below(MARK), *([below(manager.lock)] if locked else [])]
    words = manager.words(*what, *([] if whole else manager.production))
    return DraftInstall([words], files, [below("node_modules")])


def _start(service: Path, manifest: dict[str, Any], scripts: Mapping[str, str]) -> tuple[Deployed, list[str]]:
    """The command as from the service's folder, and what of it is a guess."""
    told = deployed(service)
    if told and told.words[0] in _RUNNERS and (found := _resolved(told, scripts)):
        return found, [f"the command of its {found.source}"]
    for name in _STARTS:
        line = command(scripts.get(name, ""), f"script `{name}`")
        if line and (found := _resolved(line, {})):
            return found, []
    entry = manifest.get("main") or first_there(service, _ENTRIES) or "server.js"
    return Deployed(["node", entry], ""), [f"no script `start` is a command of its own: is {entry} what starts it?"]


def _resolved(told: Deployed, scripts: Mapping[str, str]) -> Deployed | None:
    """A command without a package manager between: a script by what it says, a package's program by its file."""
    first, *rest = told.words
    if first == "node" and rest:
        return told
    if first in _RUNNERS:
        name = next((word for word in rest if word not in ("run", "exec") and not word.startswith("-")), "")
        line = command(scripts.get(name, ""), f"{told.source}, script `{name}`")
        return _resolved(line, {}) if line else None
    if "/" in first or not rest:
        return None
    return replace(told, words=[f"{_PROGRAMS}{first}", *rest])


def _entry(words: Words) -> str:
    """The file that is run: the first word that is neither an option nor the value of one."""
    pairs = itertools.pairwise(words)
    return next((word for before, word in pairs if not word.startswith("-") and before not in _VALUED), "")


def _artifacts(service: Path, entry: str, *, installed: bool) -> Sequence[str]:
    top = Path(entry).parts[0] if len(Path(entry).parts) > 1 else ""
    own = [below(top)] if top else [below(f"*{Path(entry).suffix}"), *_there(service, _SOURCES)]
    return [*own, below(MARK), *([below("node_modules")] if installed else [])]


def _there(service: Path, names: Sequence[str]) -> list[str]:
    return [below(name) for name in names if (service / name).is_dir()]
