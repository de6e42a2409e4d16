"""The command that a service is deployed with: its Procfile's `web`, or what its Dockerfile runs, through a script of
its own that either starts.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path, PurePath

from touchstone.intake.service.base import DraftStack, Words, read_text

_PROCESS = re.compile(r"^(web|release):\s*(.+)$", re.MULTILINE)
_INSTRUCTION = re.compile(r"^\s*(FROM|ENTRYPOINT|CMD|ENV)\s+(.+)$", re.IGNORECASE | re.MULTILINE)
_OF_THE_IMAGE = re.compile(
    r"PORT|HOST|(?:\w*_)?HOME|(?:PYTHON|NODE_|LD_LIBRARY_)?PATH|LD_PRELOAD|VIRTUAL_ENV|(?:PIP|UV|POETRY|DEBIAN)_\w+"
)
"""Variables that say where something lies in an image, how the image is made, or where the service listens in it."""
_ASSIGNMENT = re.compile(r"^([A-Za-z_]\w*)=(.*)$", re.DOTALL)
_CHAIN = re.compile(r"\s*(?:&&|;)\s*")
_SHELL = re.compile(r"[&|<>`]|\$\(")
"""What only a shell can do: a line that has it is no command."""
_VARIABLE = re.compile(r"\$(?:\{(?P<braced>\w+)(?::?-(?P<otherwise>[^}]*))?\}|(?P<bare>\w+))")
_BEFORE = (
    *(["exec"], ["env"], ["cross-env"], ["npx"]),
    *([tool, "run"] for tool in ("uv", "poetry", "pipenv", "pdm")),
    *([init, "--"] for init in ("tini", "/sbin/tini", "/usr/bin/tini", "dumb-init", "/usr/bin/dumb-init")),
)
"""What only starts the program behind it."""
_AS_USER = ("gosu", "su-exec")
"""The same, behind a user's name."""
_VALUED = ("--extra", "--group", "--only-group", "--with", "--package", "--python", "-p", "--env-file", "--project")
"""Its options that have a value in a word of its own."""
_PLACES = {"PORT": "{port}", "HOST": "{host}"}
_ADDRESS = re.compile(r"^(-\w)?(?:0\.0\.0\.0|127\.0\.0\.1|localhost|\[::\]|\*|\{host\})?:(?:\d{2,5}|\{port\})$")
"""An address in a word of its own, behind an option's letter, or behind its `=`."""
_BY_SHELL = "sh"
_IN_SHELL = (_BY_SHELL, "-c")
_SHELLS = (_BY_SHELL, "/bin/sh", "bash", "/bin/bash")
_SCRIPT = re.compile(r"[\w.-]+\.sh|(?:docker-)?entrypoint")
_ARGUMENTS = re.compile(r'"?\$[@*]"?')
"""What a script is started with."""
_OF_THE_SCRIPT = re.compile(r"#|(?:set|umask|trap|echo|export)\b")
"""Lines of a script that are about itself, or that set what is read apart."""
_BRANCHING = re.compile(r"(?:if|for|while|until|case|function)\b|.*(?:\{$|<<)")
_ENDING = ("fi", "done", "esac", "}", ";;")
_SCRIPTS_IN_SCRIPTS = 3
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
    before: Sequence[str] = ()
    """What is done before it, and is no part of it."""

    def marks(self) -> list[str]:
        """What its author should know of what is done before it."""
        return [f"{self.source} does before it: {what}" for what in self.before]

    @property
    def addressed(self) -> bool:
        """Whether it says where to listen."""
        return any("{port}" in word for word in self.words)


def deployed(service: Path) -> Deployed | None:
    """How it is started, as one of its files has it; by a shell if none has it as a plain command."""
    found = [one for one in (_procfile(service), _dockerfile(service)) if one]
    return min(found, key=lambda one: one.words[0] == _BY_SHELL, default=None)


def command(line: str, source: str) -> Deployed | None:
    """A line that a shell would run, as the last command of it; none if that takes a shell."""
    *before, last = _CHAIN.split(line)
    if _SHELL.search(last):
        return None
    try:
        found = _command(shlex.split(last), source)
    except ValueError:
        return None
    return found and replace(found, before=before)


def _command(words: Sequence[str], source: str) -> Deployed | None:
    """Without what stands before the program."""
    rest = list(words)
    env: dict[str, str] = {}
    while rest:
        if found := _ASSIGNMENT.match(rest[0]):
            env[found[1]] = found[2]
            rest = rest[1:]
        elif rest[0] in _AS_USER and len(rest) > 2:
            rest = rest[2:]
        elif before := next((one for one in _BEFORE if rest[: len(one)] == one), None):
            rest = _without_options(rest[len(before) :])
        else:
            break
    if len(rest) > 2 and rest[0] in _SHELLS and rest[1] == "-c":
        behind = _shell(rest[2], source)
        return replace(behind, env={**env, **behind.env})
    # Where it listens is the lab's to say, wherever it is said.
    env = {name: value for name, value in env.items() if name not in _PLACES}
    return Deployed(list(_placed(rest)), source, env) if rest else None


def _without_options(words: list[str]) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in _VALUED else 1 :]
    return words


def _shell(line: str, source: str) -> Deployed:
    return command(line, source) or Deployed([*_IN_SHELL, line], source)


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


def _followed(found: Deployed, service: Path) -> Deployed:
    """What a script of the service starts last, where that is a plain command; as it is otherwise."""
    for _ in range(_SCRIPTS_IN_SCRIPTS):
        words = found.words[1:] if found.words[0] in _SHELLS else found.words
        script = _script_in(service, words[0]) if words else None
        last = _started_by(script, words[1:]) if script else None
        if last is None:
            break
        found = replace(last, env={**found.env, **last.env}, before=[*found.before, *last.before])
    return found


def _script_in(service: Path, word: str) -> Path | None:
    """The service's own file that a word names, wherever an image has it."""
    parts = [part for part in PurePath(word).parts if part != "/"]
    if not parts or not _SCRIPT.fullmatch(parts[-1]):
        return None
    places = (service.joinpath(*parts[start:]) for start in range(len(parts)))
    return next((place for place in places if place.is_file()), None)


def _started_by(script: Path, arguments: Sequence[str]) -> Deployed | None:
    """The last command of a script that is started with arguments, and what is done before it."""
    lines = [line.strip() for line in read_text(script).replace("\\\n", " ").splitlines()]
    *ahead, last = [line for line in lines if line and not line.startswith("#")] or [""]
    found = command(_ARGUMENTS.sub(lambda _: shlex.join(arguments), last), script.name)
    if found is None or last in _ENDING:
        return None
    exported = dict(_set([line.removeprefix("export ") for line in ahead if line.startswith("export ")]))
    before = [line for line in ahead if not _OF_THE_SCRIPT.match(line)]
    if any(map(_BRANCHING.match, before)):
        before = ["more than single commands: see what that does"]
    return replace(found, env={**exported, **found.env}, before=[*before, *found.before])


def _procfile(service: Path) -> Deployed | None:
    file = service / "Procfile"
    lines = dict(_PROCESS.findall(read_text(file))) if file.is_file() else {}
    if "web" not in lines:
        return None
    found = _followed(_shell(lines["web"].strip(), file.name), service)
    return replace(found, before=[*([lines["release"].strip()] if "release" in lines else []), *found.before])


def _dockerfile(service: Path) -> Deployed | None:
    """What the image runs that is made last, with what is set in it: who is deployed otherwise does not have that."""
    file = service / "Dockerfile"
    if not file.is_file():
        return None
    said: dict[str, str] = {}
    env: list[str] = []
    stages: dict[str, tuple[dict[str, str], list[str]]] = {}
    for found in _INSTRUCTION.finditer(read_text(file).replace("\\\n", " ")):
        name, value = found[1].upper(), found[2].strip()
        if name == "FROM":
            image, *named = [word for word in value.split() if not word.startswith("--")]
            before = stages.get(image, ({}, []))
            said, env = dict(before[0]), list(before[1])
            stages |= {named[-1]: (said, env)} if named else {}
        elif name == "ENV":
            env.append(value)
        else:
            said[name] = value
    run = _image_runs(said, service, file.name)
    return run and replace(run, env={**dict(_set(env)), **run.env})


def _image_runs(said: Mapping[str, str], service: Path, source: str) -> Deployed | None:
    """What an entrypoint and a command come to; a script between them that cannot be read is done before it."""
    lines = [said[name] for name in ("ENTRYPOINT", "CMD") if name in said]
    words = [_exec_form(line) or [*_IN_SHELL, line] for line in lines]
    whole = _command([word for part in words for word in part], source)
    found = whole and _followed(whole, service)
    if found is not whole or len(words) < 2 or not _SCRIPT.fullmatch(PurePath(words[0][-1]).name):
        return found
    last = _command(words[1], source)
    behind = last and _followed(last, service)
    return behind and replace(behind, before=[" ".join(words[0]), *behind.before])


def _set(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What an image sets, by `A=b C=d` or by `A b`, if it makes sense outside of it."""
    for line in lines:
        try:
            words = shlex.split(line) if "=" in line.split()[0] else ["=".join(line.split(maxsplit=1))]
        except ValueError:
            continue
        for found in filter(None, map(_ASSIGNMENT.match, words)):
            if not _OF_THE_IMAGE.fullmatch(found[1]) and "$" not in found[2]:
                yield found[1], found[2]


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
        guessed=[*drafted.guessed, f"the arguments of its {found.source}", *found.marks()],
    )


def with_address(found: Deployed, *options: str) -> Deployed:
    """With options that say where it listens, unless it says so itself."""
    return found if found.addressed else replace(found, words=[*found.words, *options])
