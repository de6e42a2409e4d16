"""Reads the last image of a Dockerfile: its command, its port, its build."""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path, PurePosixPath

from touchstone.intake.service.command import (
    DeployedCommand,
    assigned,
    assignments,
    command_of_words,
    filled,
    is_portable,
    is_script,
    resolved_script,
)
from touchstone.intake.service.image_files import BuildContext, StageFiles
from touchstone.intake.service.reading import read_source
from touchstone.intake.service.workspace import folders_above

_NAMES = ("Dockerfile", "Containerfile", "Dockerfile.prod", "Dockerfile.production", "prod.Dockerfile")
_FOLDERS = (".", "docker", ".docker", "deploy", "deployment", "build", "build/package", "docker/prod*", "cmd/*")
_HEREDOC = re.compile(r"<<-?\s*[\"']?(\w+)[\"']?")
_INSTRUCTION = re.compile(
    r"(FROM|ENTRYPOINT|CMD|ENV|ARG|EXPOSE|WORKDIR|RUN|COPY|ADD)\s+(.+)", re.IGNORECASE | re.DOTALL
)
_PORT = re.compile(r"(\d+)(?:/tcp)?")
_IN_SHELL = ("sh", "-c")
_PATH = re.compile(r"[\w.@+/-]*/[\w.@+-]+|[\w@+-][\w.@+-]*\.[A-Za-z]\w*")
"""A word that may be the path of a file."""
_MODULE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.()]*")
"""An application as servers of Python name it: a module, and a name in it."""


@dataclass
class _Stage:
    """What the instructions of a stage have said so far."""

    image: str = ""
    instructions: dict[str, str] = field(default_factory=dict)
    env: list[str] = field(default_factory=list)
    ports: list[str] = field(default_factory=list)
    folder: str = "/"
    files: StageFiles = field(default_factory=StageFiles)


@dataclass(frozen=True)
class DockerfileImage:
    """What is known of it."""

    source: str
    run: DeployedCommand | None
    ports: Sequence[int]
    bases: Sequence[str]
    """The images that its stages begin with."""
    commands: Sequence[str]
    """What is run to make it."""
    copied: Sequence[str]
    """What is copied into it."""
    build_env: Mapping[str, str]
    """What is set while it is made, and not in it."""


def dockerfile_of(service: Path, named: Sequence[str] = ()) -> Path | None:
    """The Dockerfile of a service: one that is `named` elsewhere, one at its top, or in a folder for such.

    Without one there, a Dockerfile further up in the repository that copies from the service's folder.
    """
    for name in named:
        if (service / name).is_file():
            return service / name
    own = next(_dockerfiles(service, _NAMES), None)
    if own:
        return own
    called = (f"{service.resolve().name}.Dockerfile", f"Dockerfile.{service.resolve().name}", *_NAMES, "*.Dockerfile")
    for folder in folders_above(service):
        context = BuildContext.of(folder, service)
        for file in _dockerfiles(folder, called):
            if any(map(context.lies_in_service, copied_paths(file))):
                return file
    return None


def _dockerfiles(top: Path, names: Sequence[str]) -> Iterator[Path]:
    for folder in _FOLDERS:
        for name in names:
            for found in sorted(top.glob(name if folder == "." else f"{folder}/{name}")):
                if found.is_file():
                    yield found


def context_of(file: Path, service: Path) -> BuildContext:
    """The folder that a Dockerfile is built of: the service's, or one above it.

    The nearest folder with the most of these: the copied files, the folder in which the command starts, and the
    command's own files.
    """
    sources, last = copied_paths(file), _stages(file)[0][-1]

    def fitness(folder: Path) -> tuple[int, bool, int]:
        context = BuildContext.of(folder, service)
        run = image_of(file, service, context).run
        place = last.files.origin(PurePosixPath(last.folder), context)
        there = sum((service / word).is_file() for word in (run.words if run else ()))
        return sum((folder / one).exists() for one in sources), bool(place and (service / place).is_dir()), there

    return BuildContext.of(max((service.resolve(), *folders_above(service)), key=fitness), service)


def image_of(file: Path, service: Path, context: BuildContext) -> DockerfileImage:
    """The image that a Dockerfile makes of a service."""
    stages, given, commands, copied = _stages(file)
    last = stages[-1]
    source = Path(os.path.relpath(file.resolve(), service.resolve())).as_posix()
    known = _variables(last, given)
    run = _ImageCommands(last, service, source, known, context).run()
    env = {name: known[name] for name, _ in assigned(last.env) if is_portable(name, known[name])}
    unset = [name for name, _ in assigned(last.env) if "$" in known[name] and is_portable(name, "")]
    notes = [f"{source} sets {name} to `{known[name]}`, which nothing gives: left out" for name in dict.fromkeys(unset)]
    earlier = [line for stage in stages[:-1] for line in stage.env]
    return DockerfileImage(
        source,
        run and replace(run, env={**env, **run.env}, notes=[*run.notes, *notes]),
        list(dict.fromkeys(_ports(last.ports, known))),
        [stage.image for stage in stages if stage.image],
        commands,
        copied,
        dict(assignments(earlier)),
    )


def copied_paths(file: Path) -> list[PurePosixPath]:
    """The paths that a Dockerfile copies from its context, without patterns, each once."""
    copies = [copy for stage in _stages(file)[0] for copy in stage.files.copies if copy.stage is None]
    plain = [one for copy in copies for one in copy.sources if not set("*?[$") & set(one.as_posix())]
    return list(dict.fromkeys(plain))


def _stages(file: Path) -> tuple[list[_Stage], dict[str, str], list[str], list[str]]:
    """The stages, each with what the one has that it begins with. What `ARG` gives, `RUN` runs, `COPY` copies."""
    stages = [_Stage()]
    named: dict[str, _Stage] = {}
    given: dict[str, str] = {}
    commands: list[str] = []
    copied: list[str] = []
    for name, value in _instructions(read_source(file)):
        if name == "FROM":
            image, *rest = [word for word in value.split() if not word.startswith("--")] or [""]
            stage = deepcopy(named.get(image, _Stage(image)))
            named |= dict.fromkeys((str(len(stages) - 1), *rest[-1:]), stage)
            stages.append(stage)
        elif name == "ARG":
            given |= dict(assigned([value])) if "=" in value else {}
        elif name == "RUN":
            commands.append(value)
        elif name in ("COPY", "ADD"):
            copied.append(value)
            known = _variables(stages[-1], given)
            words = [filled(word, known) for word in _exec_form(value) or value.split()]
            stages[-1].files.copy(words, stages[-1].folder, {key: stage.files for key, stage in named.items()})
        elif name == "WORKDIR":
            folder = filled(value.strip("\"'"), _variables(stages[-1], given))
            stages[-1].folder = str(PurePosixPath(stages[-1].folder, folder))
        else:
            _take(stages[-1], name, value)
    return stages, given, commands, copied


def _variables(stage: _Stage, given: Mapping[str, str]) -> dict[str, str]:
    """The variables of a stage after those `given` by `ARG`. Each may use earlier ones."""
    known = dict(given)
    for name, value in assigned(stage.env):
        known[name] = filled(value, known)
    return known


def _take(stage: _Stage, name: str, value: str) -> None:
    if name == "ENV":
        stage.env.append(value)
    elif name == "EXPOSE":
        stage.ports += value.split()
    elif name in ("CMD", "ENTRYPOINT"):
        stage.instructions[name] = value


def _instructions(held: str) -> Iterator[tuple[str, str]]:
    """Name and value of each instruction, with its here-document, without comments between its lines."""
    lines = iter([line for line in held.splitlines() if not line.lstrip().startswith("#")])
    for line in lines:
        whole = line.strip()
        while whole.endswith("\\"):
            whole = f"{whole[:-1]} {next(lines, '').strip()}"
        if (document := _HEREDOC.search(whole)) and whole[:4].upper() in ("RUN ", "COPY", "ADD "):
            inside = []
            for one in lines:
                if one.strip() == document[1]:
                    break
                inside.append(one)
            whole = f"RUN {' && '.join(inside)}" if whole[:4].upper() == "RUN " else ""
        if found := _INSTRUCTION.match(whole):
            yield found[1].upper(), found[2].strip()


def _ports(instructions: Sequence[str], known: Mapping[str, str]) -> Iterator[int]:
    for word in instructions:
        name = word.split("/")[0].strip("${}").split(":-")
        given = known.get(name[0], name[-1]) if word.startswith("$") else word
        if (found := _PORT.fullmatch(given)) and 0 < int(found[1]) < 65536:
            yield int(found[1])


@dataclass(frozen=True)
class _ImageCommands:
    """Reads the commands of an image's last stage as commands of a service's folder."""

    stage: _Stage
    service: Path
    source: str
    known: Mapping[str, str]
    context: BuildContext

    def run(self) -> DeployedCommand | None:
        """The command of an entrypoint and its arguments. An unreadable script between them is done before it."""
        instructions = [
            self.stage.instructions[name] for name in ("ENTRYPOINT", "CMD") if name in self.stage.instructions
        ]
        lines = [_exec_form(line) or [*_IN_SHELL, line] for line in instructions]
        whole = self._command([word for line in lines for word in line])
        found = whole and resolved_script(whole, self.service)
        if len(lines) < 2 or found is not whole or not is_script(lines[0][-1]):
            return found
        last = self._command(lines[1])
        behind = last and resolved_script(last, self.service)
        ahead = " ".join(self._in_service(word, "") for word in lines[0])
        return behind and replace(behind, before=[ahead, *behind.before])

    def _command(self, words: Sequence[str]) -> DeployedCommand | None:
        """A command of the image, with its files and its folder as the service has them."""
        found = command_of_words(words, self.source, self.known)
        if found is None:
            return None
        folder = self._imported_from(found.words)
        within = [self._in_service(word, folder) for word in found.words]
        return replace(found, words=within, folder=posixpath.join(folder, found.folder).rstrip("/"))

    def _origin(self, path: str) -> PurePosixPath | None:
        at = posixpath.normpath(posixpath.join(self.stage.folder, path))
        return self.stage.files.origin(PurePosixPath(at), self.context)

    def _imported_from(self, words: Sequence[str]) -> str:
        """The service's folder that holds the Python modules that the words name; empty for its top."""
        modules = [word.partition(":")[0] for word in words if _MODULE.fullmatch(word)]
        modules += [behind for before, behind in pairwise(words) if before == "-m"]
        for module in modules:
            for file in (f"{module.replace('.', '/')}.py", f"{module.replace('.', '/')}/__init__.py"):
                origin = self._origin(file)
                if origin and (self.service / origin).is_file():
                    return origin.as_posix().removesuffix(file).rstrip("/")
        return ""

    def _in_service(self, word: str, folder: str) -> str:
        """A word with its image path replaced by the service's, as seen from a `folder`."""
        option, equals, path = word.rpartition("=") if word.startswith("-") else ("", "", word)
        if not _PATH.fullmatch(path):
            return word
        origin = self._origin(path)
        top = self.stage.folder.rstrip("/") + "/"
        inside = path.removeprefix(top) if self.stage.folder != "/" else path
        if origin is None or (not (self.service / origin).is_file() and (self.service / inside).is_file()):
            return option + equals + inside
        return option + equals + posixpath.relpath(origin.as_posix(), folder or ".")


def _exec_form(line: str) -> list[str] | None:
    """The words of `["program", "argument"]`; none of a shell's line."""
    try:
        held = json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        return None
    return held if isinstance(held, list) and held and all(isinstance(word, str) for word in held) else None
