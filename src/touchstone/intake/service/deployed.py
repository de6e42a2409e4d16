"""The command that a service is deployed with: its Procfile's `web`, or what its Dockerfile runs."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path, PurePath

from touchstone.intake.service.base import DraftStack, Words, read_text

_WEB = re.compile(r"^web:\s*(.+)$", re.MULTILINE)
_INSTRUCTION = re.compile(r"^\s*(FROM|ENTRYPOINT|CMD)\s+(.+)$", re.IGNORECASE | re.MULTILINE)
_ASSIGNMENT = re.compile(r"^([A-Za-z_]\w*)=(.*)$", re.DOTALL)
_SHELL = re.compile(r"[;&|<>`]|\$\(")
"""What only a shell can do: a line that has it is no command."""
_VARIABLE = re.compile(r"\$(?:\{(?P<braced>\w+)(?::?-(?P<otherwise>[^}]*))?\}|(?P<bare>\w+))")
_BEFORE = (
    *(["exec"], ["env"], ["cross-env"], ["npx"]),
    *([tool, "run"] for tool in ("uv", "poetry", "pipenv", "pdm")),
    *([init, "--"] for init in ("tini", "/sbin/tini", "/usr/bin/tini", "dumb-init", "/usr/bin/dumb-init")),
)
"""What only starts the program behind it."""
_PLACES = {"PORT": "{port}", "HOST": "{host}"}
_ADDRESS = re.compile(r"^(-\w)?(?:0\.0\.0\.0|127\.0\.0\.1|localhost|\[::\]|\*|\{host\})?:(?:\d{2,5}|\{port\})$")
"""An address in a word of its own, behind an option's letter, or behind its `=`."""
_NOT_COMPILED = re.compile(r"sh|bash|go|cargo|make|air|nginx|caddy|node|npm|java|python3?")
"""Programs that may stand in a compiled service's files, and are not the service."""
_HOSTS = ("0.0.0.0", "127.0.0.1", "localhost", "::")
_PORT_OPTIONS = ("--port", "-p", "--http-port")
_HOST_OPTIONS = ("--host", "-h", "--hostname")


@dataclass(frozen=True)
class Deployed:
    """A command as from the service's folder, with `{host}` and `{port}` where its address stands."""

    words: Words
    source: str
    """The file that has it."""
    env: Mapping[str, str] = field(default_factory=dict)
    """What it sets for itself."""

    @property
    def addressed(self) -> bool:
        """Whether it says where to listen."""
        return any("{port}" in word for word in self.words)


def deployed(service: Path) -> Deployed | None:
    """How it is started, if one of its files has that as a plain command."""
    return next((found for found in (_procfile(service), _dockerfile(service)) if found), None)


def command(line: str, source: str) -> Deployed | None:
    """A line that a shell would run, as a command; none if it takes a shell."""
    if _SHELL.search(line):
        return None
    try:
        return _command(shlex.split(line), source)
    except ValueError:
        return None


def _command(words: Sequence[str], source: str) -> Deployed | None:
    """Without what stands before the program."""
    rest = list(words)
    env: dict[str, str] = {}
    while rest:
        if found := _ASSIGNMENT.match(rest[0]):
            env[found[1]] = found[2]
            rest = rest[1:]
        elif before := next((one for one in _BEFORE if rest[: len(one)] == one), None):
            rest = rest[len(before) :]
        else:
            break
    # Where it listens is the lab's to say, wherever it is said.
    env = {name: value for name, value in env.items() if name not in _PLACES}
    return Deployed(list(_placed(rest)), source, env) if rest else None


def _placed(words: Sequence[str]) -> Iterator[str]:
    for before, word in pairwise(["", *words]):
        filled = _VARIABLE.sub(_filled, word)
        option, equals, given = filled.rpartition("=")
        if before in _PORT_OPTIONS and filled.isdigit():
            yield "{port}"
        elif before in _HOST_OPTIONS and filled in _HOSTS:
            yield "{host}"
        elif equals and option in _PORT_OPTIONS:
            yield f"{option}={{port}}"
        elif equals and option in _HOST_OPTIONS:
            yield f"{option}={{host}}"
        else:
            yield option + equals + _ADDRESS.sub(r"\1{host}:{port}", given)


def _filled(found: re.Match[str]) -> str:
    """What stands for a variable: a place, what the line itself gives, or the variable, which a check refuses."""
    return _PLACES.get(found["braced"] or found["bare"]) or found["otherwise"] or found[0]


def _procfile(service: Path) -> Deployed | None:
    file = service / "Procfile"
    found = _WEB.search(read_text(file)) if file.is_file() else None
    return command(found[1].strip(), file.name) if found else None


def _dockerfile(service: Path) -> Deployed | None:
    file = service / "Dockerfile"
    if not file.is_file():
        return None
    said: dict[str, str] = {}
    for found in _INSTRUCTION.finditer(read_text(file).replace("\\\n", " ")):
        name = found[1].upper()
        said = {} if name == "FROM" else said | {name: found[2].strip()}
    lines = [said[name] for name in ("ENTRYPOINT", "CMD") if name in said]
    words = [_exec_form(line) for line in lines]
    if not lines or None in words[:-1]:
        return None
    if words[-1] is None:
        return command(lines[-1], file.name) if len(lines) == 1 else None
    whole = [word for part in words if part for word in part]
    if whole[:2] in (["sh", "-c"], ["/bin/sh", "-c"], ["bash", "-c"]) and len(whole) > 2:
        return command(whole[2], file.name)
    return _command(whole, file.name)


def _exec_form(line: str) -> list[str] | None:
    """The words of `["program", "argument"]`; none of a shell's line."""
    try:
        held = json.loads(line)
    except json.JSONDecodeError:
        return None
    return held if isinstance(held, list) and all(isinstance(word, str) for word in held) else None


def with_arguments(drafted: DraftStack, service: Path) -> DraftStack:
    """A compiled program's draft, with the arguments that it is deployed with."""
    found = deployed(service)
    if found is None or _NOT_COMPILED.fullmatch(PurePath(found.words[0]).name) or not (found.words[1:] or found.env):
        return drafted
    return replace(
        drafted,
        run=[*drafted.run, *found.words[1:]],
        env={**drafted.env, **found.env},
        guessed=[*drafted.guessed, f"the arguments of its {found.source}"],
    )


def with_address(found: Deployed, *options: str) -> Deployed:
    """With options that say where it listens, unless it says so itself."""
    return found if found.addressed else replace(found, words=[*found.words, *options])
