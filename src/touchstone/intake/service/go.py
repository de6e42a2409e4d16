"""A service with a go.mod: the package `main` that its image builds, or that listens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path, PurePath

from touchstone.intake.service.base import APP, DraftInstall, DraftStack, below
from touchstone.intake.service.deployed import Deployment, with_arguments
from touchstone.intake.service.reading import read_source, read_text
from touchstone.intake.service.sources import is_ignored

MARK = "go.mod"
_MAIN = re.compile(r"^package main\b", re.MULTILINE)
_MODULE = re.compile(r"^module\s+(\S+)\s*$", re.MULTILINE)
_MAJOR = re.compile(r"/v\d+$")
_IMPORTED = re.compile(r"^\s*(?:import\s+)?(?:[\w.]+\s+)?\"([^\"]+)\"", re.MULTILINE)
_LISTENS = re.compile(r"\bnet\.Listen|ListenAndServe|\.(?:Run|Listen|Start|Serve)\(")
_SERVERS = ("server", "api", "web", "http", "app", "main")
_BUILT = re.compile(r"\bgo (?:build|install)\b((?:[^&|;]|&(?!&))*)")
_TAGS = re.compile(r"-tags[= ]+[\"']?([\w,]+)")
_LINKED = re.compile(r"-X[= ]+")
_PAGE = re.compile(r"\b(?:npm|yarn|pnpm|bun)\b[^&|;]*\bbuild\b")
_EMBEDDED = re.compile(r"^//go:embed\s+(.+)$", re.MULTILINE)
_WORD = re.compile(r'"[^"]*"|`[^`]*`|\S+')
_LEFT_OUT = re.compile(
    r"[._].*|test(?:data|ing|utils?|helpers?)|vendor|node_modules|.*examples?|tests?|docs?|tools?|scripts?|hac[k]"
)
_DEEPEST = 4


def draft(service: Path, found: Deployment) -> DraftStack:
    """Its stack."""
    declared = _MODULE.search(read_text(service / MARK))
    module = declared[1] if declared else ""
    name = PurePath(_MAJOR.sub("", module)).name
    built = [line[1] for command in (found.image.commands if found.image else ()) for line in _BUILT.finditer(command)]
    mains = _mains(service, name)
    named = next((place for line in built for place in mains if place != "." and _names(line, place)), None)
    if named:
        mains = [named, *(place for place in mains if place != named)]
    place = f"./{mains[0]}" if mains and mains[0] != "." else "."
    guessed = [] if named or not mains[1:] else [f"there are further programs: {', '.join(map(_called, mains[1:]))}"]
    if not mains:
        guessed = ["no `package main` was found: name its folder in `build`"]
    if any(_LINKED.search(line) for line in built):
        guessed += [f"{found.image.source} sets variables by -ldflags, which is left out" for _ in [0] if found.image]
    if page := next(
        (one for command in (found.image.commands if found.image else ()) for one in _PAGE.findall(command)), ""
    ):
        guessed += [f"its image builds a page before, which is left out: {page}"]
    compiled = _compiled(service, mains[0], module) if mains and module else None
    guessed += _missing(service, compiled or ())
    tags = next((tag[1] for line in built if (tag := _TAGS.search(line))), "")
    summed = (service / "go.sum").is_file() and not (service / "vendor/modules.txt").is_file()
    # A version from the repository that happens to hold the work folder would not be its own, or fail the build.
    options = ["-buildvcs=false", "-trimpath", *([f"-tags={tags}"] if tags else [])]
    drafted = DraftStack(
        language="Go",
        needs={"go": ">=1.21"},
        install=DraftInstall([["go", "mod", "download", "-C", APP]], [below(MARK), below("go.sum")])
        if summed
        else None,
        build=[["go", "build", "-C", APP, *options, "-o", "../server", place]],
        build_env={name: value for name, value in found.build_env.items() if name in ("CGO_ENABLED", "GOEXPERIMENT")},
        artifacts=["server"],
        run=["./server"],
        name=module.removeprefix("github.com/"),
        folders=compiled,
        guessed=guessed,
    )
    return with_arguments(drafted, found)


def _missing(service: Path, folders: Sequence[str]) -> Iterator[str]:
    """A mark for each file that is embedded and not there, so that nothing compiles."""
    for source in (source for folder in folders for source in _sources(service / folder)):
        for line in _EMBEDDED.findall(read_source(source)):
            for pattern in (word.strip('"`').removeprefix("all:") for word in _WORD.findall(line)):
                # Path.glob raises errors for some patterns, such as `.`.
                if not glob(pattern, root_dir=source.parent, include_hidden=True):  # noqa: PTH207
                    named = source.relative_to(service).as_posix()
                    yield f"{named} embeds {pattern}, which is not there: a step before the build makes it"


def _called(place: str) -> str:
    return place if place == "." else f"./{place}"


def _names(line: str, place: str) -> bool:
    """Whether a command's words name a folder."""
    return any(
        word.strip("\"'")
        .removeprefix("./")
        .rstrip("/")
        .removesuffix("/*")
        .removesuffix("/*.go")
        .removesuffix("/main.go")
        == place
        for word in line.split()
    )


def _mains(service: Path, name: str) -> list[str]:
    """The folders of its programs: first those that listen, of these the ones called as servers or the module are."""
    held = {folder: "\n".join(map(read_source, _sources(folder))) for folder in _folders(service)}

    def order(folder: Path) -> tuple[bool, bool, int]:
        depth = len(folder.relative_to(service).parts)
        return not _LISTENS.search(held[folder]), folder != service and folder.name not in (*_SERVERS, name), depth

    mains = sorted((folder for folder, text in held.items() if _MAIN.search(text)), key=order)
    return [folder.relative_to(service).as_posix() for folder in mains]


def _folders(folder: Path, depth: int = 0) -> Iterator[Path]:
    """A folder and those below it, without other modules, and what is compiled for no service."""
    yield folder
    for below_it in sorted(path for path in folder.iterdir() if path.is_dir()) if depth < _DEEPEST else ():
        left_out = folder.name != "cmd" and _LEFT_OUT.fullmatch(below_it.name)
        if not left_out and not (below_it / MARK).exists() and not below_it.is_symlink():
            yield from _folders(below_it, depth + 1)


def _sources(folder: Path) -> list[Path]:
    files = [file for file in sorted(folder.glob("*.go")) if not file.name.endswith("_test.go")]
    return [file for file in files if not is_ignored(read_source(file, 2000))]


def _compiled(service: Path, main: str, module: str) -> Sequence[str]:
    """The folders of the packages that a program is compiled of, its own first."""
    found, todo = [main], [main]
    for folder in todo:
        for source in _sources(service / folder):
            for imported in _IMPORTED.findall(read_source(source)):
                place = imported.removeprefix(module).strip("/") or "."
                inside = imported == module or imported.startswith(f"{module}/")
                if inside and place not in found and (service / place).is_dir():
                    found.append(place)
                    todo.append(place)
    return found
