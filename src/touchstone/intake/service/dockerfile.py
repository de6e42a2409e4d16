"""Reads the last image of a Dockerfile: its command, its port, its build."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from touchstone.intake.service.command import Deployed, assigned, assignments, followed, is_script, of_words
from touchstone.intake.service.reading import read_source

_NAMES = ("Dockerfile", "Containerfile", "Dockerfile.prod", "Dockerfile.production", "prod.Dockerfile")
_FOLDERS = (".", "docker", ".docker", "deploy", "deployment", "build", "build/package", "docker/prod*", "cmd/*")
_HEREDOC = re.compile(r"<<-?\s*[\"']?(\w+)[\"']?")
_INSTRUCTION = re.compile(
    r"(FROM|ENTRYPOINT|CMD|ENV|ARG|EXPOSE|WORKDIR|RUN|COPY|ADD)\s+(.+)", re.IGNORECASE | re.DOTALL
)
_PORT = re.compile(r"(\d+)(?:/tcp)?")
_IN_SHELL = ("sh", "-c")


@dataclass
class _Stage:
    """What the instructions of a stage have said so far."""

    image: str = ""
    said: dict[str, str] = field(default_factory=dict)
    env: list[str] = field(default_factory=list)
    ports: list[str] = field(default_factory=list)
    folder: str = "/"


@dataclass(frozen=True)
class Image:
    """What is known of it."""

    source: str
    run: Deployed | None
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
    """The Dockerfile of a service: one that is `named` elsewhere, one at its top, or in a folder for such."""
    for name in named:
        if (service / name).is_file():
            return service / name
    for folder in _FOLDERS:
        for name in _NAMES:
            for found in sorted(service.glob(name if folder == "." else f"{folder}/{name}")):
                if found.is_file():
                    return found
    return None


def image_of(file: Path, service: Path) -> Image:
    """The image that a Dockerfile makes of a service."""
    stages, given, commands, copied = _stages(file)
    last = stages[-1]
    source = file.relative_to(service).as_posix()
    known = {**given, **dict(assigned(last.env))}
    run = _runs(last, service, source, known)
    earlier = [line for stage in stages[:-1] for line in stage.env]
    return Image(
        source,
        run and replace(run, env={**dict(assignments(last.env)), **run.env}),
        list(dict.fromkeys(_ports(last.ports, known))),
        [stage.image for stage in stages if stage.image],
        commands,
        copied,
        dict(assignments(earlier)),
    )


def _stages(file: Path) -> tuple[list[_Stage], dict[str, str], list[str], list[str]]:
    """The stages, each with what the one has that it begins with; what `ARG` gives, `RUN` runs, `COPY` copies."""
    stages = [_Stage()]
    named: dict[str, _Stage] = {}
    given: dict[str, str] = {}
    commands: list[str] = []
    copied: list[str] = []
    for name, value in _instructions(read_source(file)):
        if name == "FROM":
            image, *rest = [word for word in value.split() if not word.startswith("--")] or [""]
            before = named.get(image, _Stage(image))
            stage = _Stage(before.image, dict(before.said), [*before.env], [*before.ports], before.folder)
            stages.append(stage)
            named |= {rest[-1]: stage} if rest else {}
        elif name == "ARG":
            given |= dict(assigned([value])) if "=" in value else {}
        elif name in ("RUN", "COPY"):
            (commands if name == "RUN" else copied).append(value)
        else:
            _take(stages[-1], name, value)
    return stages, given, commands, copied


def _take(stage: _Stage, name: str, value: str) -> None:
    if name == "ENV":
        stage.env.append(value)
    elif name == "EXPOSE":
        stage.ports += value.split()
    elif name == "WORKDIR":
        stage.folder = str(PurePosixPath(stage.folder, value.strip("\"'")))
    elif name in ("CMD", "ENTRYPOINT"):
        stage.said[name] = value


def _instructions(held: str) -> Iterator[tuple[str, str]]:
    """Name and value of each, with what lies in a document behind it, and without comments between its lines."""
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


def _ports(said: Sequence[str], known: Mapping[str, str]) -> Iterator[int]:
    for word in said:
        name = word.split("/")[0].strip("${}").split(":-")
        given = known.get(name[0], name[-1]) if word.startswith("$") else word
        if (found := _PORT.fullmatch(given)) and 0 < int(found[1]) < 65536:
            yield int(found[1])


def _runs(stage: _Stage, service: Path, source: str, known: Mapping[str, str]) -> Deployed | None:
    """What an entrypoint and a command come to; a script between them that cannot be read is done before it."""
    lines = [stage.said[name] for name in ("ENTRYPOINT", "CMD") if name in stage.said]
    words = [_within(_exec_form(line) or [*_IN_SHELL, line], stage.folder) for line in lines]
    whole = of_words([word for part in words for word in part], source, known)
    found = whole and followed(whole, service)
    if found is not whole or len(words) < 2 or not is_script(words[0][-1]):
        return found
    last = of_words(words[1], source, known)
    behind = last and followed(last, service)
    return behind and replace(behind, before=[" ".join(words[0]), *behind.before])


def _within(words: list[str], folder: str) -> list[str]:
    """The words with paths as from the folder in which they are run."""
    top = folder.rstrip("/") + "/"
    return [words[0], *(word.removeprefix(top) if len(top) > 1 else word for word in words[1:])]


def _exec_form(line: str) -> list[str] | None:
    """The words of `["program", "argument"]`; none of a shell's line."""
    try:
        held = json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        return None
    return held if isinstance(held, list) and held and all(isinstance(word, str) for word in held) else None
