"""A service with a package.json: npm, pnpm, yarn or Bun, its scripts `build` and `start`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from touchstone.failure import UsageError
from touchstone.intake.service.base import APP, DraftInstall, DraftStack, Words, below, first_there
from touchstone.intake.service.command import DeployedCommand, command
from touchstone.intake.service.deployed import Deployment
from touchstone.intake.service.node_shipped import NUXT, TYPES, entry_of, served_patterns, shipped, source_of
from touchstone.intake.service.node_workspace import MARK, NodeWorkspace, scripts_of, starting, workspace_of
from touchstone.intake.service.reading import read_json, table_at, text_at
from touchstone.intake.service.sources import own_sources

_ENTRIES = ("server.js", "index.js", "app.js", "main.js", "src/server.js", "src/index.js", "src/main.js")
_BUN_ENTRIES = ("src/index.ts", "index.ts", "src/server.ts", "server.ts", *_ENTRIES)
_BUILDS = ("build", "compile")
_STARTS = ("start:prod", "start")
_OLDEST = 18
_WATCHING = ("--hot", "--watch")
"""What Bun's script `dev` has and a deployed service has not: without it, it is what starts the service."""
_OF_INSTALLATION = ("preinstall", "install", "postinstall", "prepare")
"""Scripts that are run with it."""
_OF_THE_SYSTEM = re.compile(r"node|sh|bash|echo|true|exit|test|\[|cd|rm|cp|mv|mkdir|touch|if|git|\w+=.*")
"""What such a script may begin with, and what needs no package."""
_WATCHER = "nodemon"
_WATCHERS_VALUED = ("--exec", "-x", "--watch", "-w", "--ext", "-e", "--ignore", "-i", "--delay", "-d", "--signal", "-s")
_BIN = "bin"
_MODULES = "node_modules"
_PROGRAMS = f"{below(_MODULES)}/.bin/"
"""Where the programs of its packages lie."""
_MORE = (
    "{more} devDependencies, which the {user} needs, lie in node_modules as well: bundle the service, or "
    'add a variant with `base = "plain"`, the same `artifacts`, and the build `{prune}`'
)
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
    folder_last: bool = False
    """Whether that option comes after the command."""
    apart: bool = False
    """Whether each package of a workspace has its packages in a folder of its own."""

    def words(self, command: str, *what: str, place: str = "") -> Words:
        """A command in a package's folder."""
        folder = below(place)
        placed = [command, self.folder, folder] if self.folder_last else [self.folder, folder, command]
        return [self.tool, *placed, *what]

    def pruning(self) -> Words:
        """Removes what only the build needed, once the service is built."""
        what = ["prune"] if self.tool in ("npm", "pnpm") else self.install
        return self.words(*what, *self.production)


_BUN = "bun"
"""Both what gets the packages and what runs the service."""
_NPM = _Manager("npm", "package-lock.json", "--prefix", ["ci"], ["--omit=dev"])
_MANAGERS = (
    _Manager("pnpm", "pnpm-lock.yaml", "--dir", ["install", "--frozen-lockfile"], ["--prod"], apart=True),
    _Manager("yarn", "yarn.lock", "--cwd", ["install", "--frozen-lockfile"], ["--production"], ">=1"),
    *(
        _Manager(_BUN, lock, "--cwd", ["install", "--frozen-lockfile"], ["--production"], ">=1", folder_last=True)
        for lock in ("bun.lock", "bun.lockb")
    ),
    _NPM,
)
DEPLOYED = {"NODE_ENV": "production"}
"""Without it Express reads its templates again for each response, and others log for developers."""
_RUNNERS = ("node", *dict.fromkeys(manager.tool for manager in _MANAGERS))


def draft(service: Path, deployment: Deployment) -> DraftStack:
    """Its stack. Raises UsageError if package.json cannot be read."""
    manifest, workspace = read_json(service / MARK), workspace_of(service)
    scripts = scripts_of(manifest)
    _refuse_top(service, workspace, scripts)
    manager = next((one for one in _MANAGERS if (workspace.root / one.lock).is_file()), _NPM)
    script, guessed = _start(service, manifest, scripts, manager, deployment.run)
    # Bun needs no compiler.
    found, guesses = (script, []) if script.words[0] == _BUN else shipped(service, script, manifest)
    guessed = [*guessed, *guesses]
    program, *arguments = found.words
    whole = program.startswith(_PROGRAMS)
    if manager.apart:
        program = program.replace(_PROGRAMS, below(f"{_MODULES}/.bin/", workspace.place))
    entry = entry_of(found.words)
    typed = (service / TYPES).is_file() or Path(entry).suffix == ".ts"
    runtime = {_BUN: ">=1"} if found.words[0] == _BUN else {"node": f">={_version(manifest)}"}
    compiling = found.words[0] != _BUN and source_of(found.words) is not None
    build = next((name for name in _BUILDS if name in scripts), "build")
    own = build in scripts and not compiling and (build == "build" or not (service / entry).exists())
    built = [*workspace.built(), *([workspace.place] if own else [])]
    user = "build" if built else "installation" if _needs_developers(manifest) else ""
    install = _install(workspace, manifest, manager, whole=whole or bool(user))
    more = len(table_at(manifest, "devDependencies"))
    if install and user and more and not entry.startswith(f"{NUXT}/"):
        guessed = [*guessed, _MORE.format(more=more, user=user, prune=" ".join(manager.pruning()))]
    if install and not (workspace.root / manager.lock).is_file():
        guessed = [*guessed, f"there is no {manager.lock}, so that each installation may get other versions"]
    return DraftStack(
        language="TypeScript" if typed else "JavaScript",
        needs=runtime | ({manager.tool: manager.needs} if install or built else {}),
        install=install,
        build=[manager.words("run", build if place == workspace.place else "build", place=place) for place in built],
        artifacts=_artifacts(service, found.words, workspace, installed=install is not None, apart=manager.apart),
        run=[program, *arguments],
        env={**DEPLOYED, **found.env},
        name=str(manifest.get("name", "")),
        place=workspace.place,
        guessed=guessed,
    )


def _needs_developers(manifest: dict[str, Any]) -> bool:
    """Whether an installation script runs a program from a development package, such as husky."""
    lines = [scripts_of(manifest).get(name, "") for name in _OF_INSTALLATION]
    firsts = [
        words[0] for line in lines if "||" not in line for one in re.split(r"&&|;", line) if (words := one.split())
    ]
    packages = table_at(manifest, "dependencies")
    return any(not _OF_THE_SYSTEM.fullmatch(first) and first not in packages for first in firsts)


def _version(manifest: dict[str, Any]) -> int:
    """The major version of Node.js that it needs at the least."""
    named = re.search(r"\d+", text_at(manifest, "engines", "node"))
    return max(_OLDEST, int(named[0])) if named and len(named[0]) < 3 else _OLDEST


def _refuse_top(service: Path, workspace: NodeWorkspace, scripts: Mapping[str, str]) -> None:
    """Raises UsageError if the service is a workspace whose own scripts start nothing."""
    others = starting(workspace) if not workspace.place and not any(name in scripts for name in _STARTS) else []
    if others:
        raise UsageError(
            f"this is a workspace of {len(workspace.members)} packages, and its own scripts start none of them",
            where=str(service / MARK),
            fix=f"name the package that is the service: {', '.join(f'--service {service / one}' for one in others)}",
        )


def _install(
    workspace: NodeWorkspace, manifest: dict[str, Any], manager: _Manager, *, whole: bool
) -> DraftInstall | None:
    """How its packages are got: all of them, or those alone that it runs with."""
    if not table_at(manifest, "dependencies") and not (whole and table_at(manifest, "devDependencies")):
        return None
    locked = (workspace.root / manager.lock).is_file()
    what = manager.install if locked else ["install"]
    files = [*map(below, workspace.files()), *([below(manager.lock)] if locked else [])]
    if any(name in scripts_of(manifest) for name in _OF_INSTALLATION):
        # They read sources: Prisma's its schema, say.
        files = []
    words = manager.words(*what, *([] if whole else manager.production))
    # Packages of a workspace may have some in folders of their own.
    return DraftInstall([words], files, [APP if workspace.place else below(_MODULES)])


def _start(
    service: Path,
    manifest: dict[str, Any],
    scripts: Mapping[str, str],
    manager: _Manager,
    from_files: DeployedCommand | None,
) -> tuple[DeployedCommand, list[str]]:
    """The command as from the service's folder, and what of it is a guess."""
    if from_files and from_files.words[0] in _RUNNERS and (found := _resolved(from_files, scripts)):
        marks = [f"the command of its {from_files.source}", *from_files.marks(), *found[1]]
        return replace(found[0], env={**from_files.env, **found[0].env}), marks
    bun = manager.tool == _BUN
    for name in (*_STARTS, "dev") if bun else _STARTS:
        if found := _script(name, scripts):
            return found
    named = _program(manifest) or text_at(manifest, "main") or (text_at(manifest, "module") if bun else "")
    entry = named or first_there(service, _BUN_ENTRIES if bun else _ENTRIES) or "server.js"
    guess = f"no script `start` is a command of its own: is {entry} what starts it?"
    return DeployedCommand([_BUN if bun else "node", entry], ""), [guess]


def _program(manifest: dict[str, Any]) -> str:
    """The file of the one program that the package installs. Empty if it has none, or several."""
    files = [text_at(manifest, "bin"), *table_at(manifest, "bin").values()]
    named = [file for file in files if file and isinstance(file, str)]
    return named[0] if len(named) == 1 else ""


def _script(name: str, scripts: Mapping[str, str]) -> tuple[DeployedCommand, list[str]] | None:
    """The command that a script finally runs, through other scripts, and the commands before it."""
    line = command(scripts.get(name, ""), f"script `{name}`")
    others = {other: script for other, script in scripts.items() if other != name}
    if line is None or (found := _resolved(line, others)) is None:
        return None
    ahead = scripts.get(f"pre{name}")
    pre = [f"script `pre{name}` does before it: {ahead}"] if ahead else []
    return found[0], [*pre, *line.marks(), *found[1]]


def _resolved(from_files: DeployedCommand, scripts: Mapping[str, str]) -> tuple[DeployedCommand, list[str]] | None:
    """The command without a package manager: a script's content, or a package program's file."""
    first, *rest = from_files.words
    if first == "node" and rest:
        return from_files, []
    if first == _WATCHER and (watched := _watched(rest)):
        behind = _resolved(replace(from_files, words=watched), scripts)
        return behind and (behind[0], [f"by {watched[0]} itself, and not by {_WATCHER}, which waits for changes"])
    if first == _BUN and (words := _for_bun(rest, scripts)):
        return replace(from_files, words=words), []
    if first in _RUNNERS:
        return _script(next((w for w in rest if w not in ("run", "exec") and not w.startswith("-")), ""), scripts)
    if "/" in first or not rest:
        return None
    return replace(from_files, words=[f"{_PROGRAMS}{first}", *rest]), []


def _watched(rest: Words) -> Words:
    """The program that nodemon starts, perhaps by `--exec`; nothing if a file names it."""
    program, behind = ["node"], list(rest)
    while behind and behind[0].startswith("-"):
        option, equals, given = behind.pop(0).partition("=")
        if option in _WATCHERS_VALUED and not equals and behind:
            given = behind.pop(0)
        if option in ("--exec", "-x"):
            program = given.split()
    return [*program, *behind] if behind or len(program) > 1 else []


def _for_bun(rest: Words, scripts: Mapping[str, str]) -> Words | None:
    """What Bun runs as a program. None if it is a script, or a command of a package."""
    kept = [word for word in rest if word not in _WATCHING]
    kept = kept[1:] if kept[:1] == ["run"] else kept
    entry = entry_of([_BUN, *kept])
    return [_BUN, *kept] if entry not in scripts and Path(entry).suffix else None


def _artifacts(service: Path, words: Words, workspace: NodeWorkspace, *, installed: bool, apart: bool) -> Sequence[str]:
    entry = entry_of(words)
    # Bun, and what compiles for node, do so as it starts, by what stands there.
    types = [TYPES] if source_of(words) and (service / TYPES).is_file() else []
    installed = installed and not entry.startswith(f"{NUXT}/")
    modules = [_MODULES] if installed and apart and workspace.place else []
    own = served_patterns(service, words) or _own(service, entry, program=words[0].startswith(_PROGRAMS))
    shipped_own = [below(name, workspace.place) for name in (*own, *types, MARK, *modules)]
    return [*shipped_own, *map(below, workspace.needed), *([below(_MODULES)] if installed else [])]


def _own(service: Path, entry: str, *, program: bool) -> Sequence[str]:
    """The folder of the file that is run. If that lies at the top, what is like it, and folders of sources."""
    file = Path(entry)
    if file.parts[:-1] == (_BIN,):
        # It only starts what lies next to its folder, as `bin/www` of Express does.
        return [_BIN, *(["*.js"] if any(service.glob("*.js")) else []), *_folders(service)]
    # What is not a file yet is a folder that the build leaves: `node build`.
    if len(file.parts) > 1 or not (program or file.suffix or (service / f"{entry}.js").is_file()):
        return [file.parts[0]]
    like = file.suffix or ("" if program else ".js")
    return [f"*{like}", *_folders(service)]


def _folders(service: Path) -> list[str]:
    """The folders that hold its sources, and what is read next to these."""
    named = (one.file.parts for one in own_sources(service, "JavaScript"))
    tops = [parts[0] for parts in named if len(parts) > 1 and parts[0] != _BIN]
    return list(dict.fromkeys([*(name for name in _SOURCES if (service / name).is_dir()), *tops]))
