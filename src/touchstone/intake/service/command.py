"""A line that a shell would run, as the command that serves: its words, its environment, what is done before it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path, PurePath

from touchstone.intake.service.base import Words
from touchstone.intake.service.reading import read_source

_OF_THE_IMAGE = re.compile(
    r"PORT|HOST|(?:\w*_)?HOME|(?:PYTHON|NODE_|LD_LIBRARY_)?PATH|LD_PRELOAD|VIRTUAL_ENV|(?:PIP|UV|POETRY|DEBIAN)_\w+"
)
"""Variables that say where something lies in an image, how the image is made, or where the service listens in it."""
_ASSIGNMENT = re.compile(r"^([A-Za-z_]\w*)=(.*)$", re.DOTALL)
_CD = re.compile(r"cd\s+(?:\./)?([\w][\w./-]*)")
_CHAIN = re.compile(r"\s*(?:&&|;)\s*")
_SHELL = re.compile(r"[&|<>`]|\$\(")
"""What only a shell can do: a line that has it is not a command."""
UNKNOWN = re.compile(r"\$\{?(\w+)")
"""A variable that nothing gives."""
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
_ADDRESS = re.compile(r"^(-\w)?(?:0\.0\.0\.0|127\.0\.0\.1|localhost|\[::1?\]|\*|\{host\})?:(?:\d{2,5}|\{port\})$")
"""An address in a word of its own, behind an option's letter, or behind its `=`."""
_OF_OTHERS = re.compile(
    r"metrics|prometheus|admin|debug|pprof|management|telemetry|monitoring|statsd|otlp|otel|jaeger|zipkin|grpc|rpc|"
    r"peers?|cluster|gossip|raft|redis|db|database|postgres|mysql|mongo(?:db)?|kafka|nats|amqp|rabbitmq|memcached|cache|"
    r"consul|etcd|vault|upstream|backend|target|proxy|remote"
)
"""Words of options whose address is another one than that where the service answers: `-metrics-addr :9100`."""
STORE_PORTS = frozenset((1433, 3306, 5432, 5672, 6379, 9042, 9092, 9200, 11211, 27017))
"""Where databases and brokers listen."""
_GIVEN_OPTIONS = re.compile(r"\$\{?(\w*(?:OPTS|OPTIONS|ARGS|FLAGS))\}?")
"""A variable that stands for any number of words, and for none where nothing gives it."""
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
_HOSTS = ("0.0.0.0", "127.0.0.1", "localhost", "::")
_PORT_OPTIONS = ("--port", "-p", "--http-port")
_HOST_OPTIONS = ("--host", "-h", "--hostname")


@dataclass(frozen=True)
class DeployedCommand:
    """A command as from the service's folder, with `{host}` and `{port}` where its address stands."""

    words: Words
    source: str
    """The file that has it."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables that the command sets itself."""
    before: Sequence[str] = ()
    """What is done before it, and is not part of it."""
    folder: str = ""
    """Where it is started, as from the service's folder."""
    notes: Sequence[str] = ()
    """What was left out of it, and why."""

    def marks(self) -> list[str]:
        """Notes for the author: what runs before the command, and what was left out."""
        return [*(f"{self.source} does before it: {what}" for what in self.before), *self.notes]

    @property
    def addressed(self) -> bool:
        """Whether it says where to listen."""
        return any("{port}" in word for word in self.words)


def command(line: str, source: str, known: Mapping[str, str] | None = None) -> DeployedCommand | None:
    """A line that a shell would run, as the last command of it. None if that takes a shell.

    `known` are variables that are set where it runs.
    """
    *before, last = _CHAIN.split(line)
    if _SHELL.search(last):
        return None
    try:
        found = command_of_words(shlex.split(last), source, known)
    except ValueError:
        return None
    entered = [into[1].rstrip("/") for one in before if (into := _CD.fullmatch(one.strip()))]
    ahead = [one for one in before if not _CD.fullmatch(one.strip())]
    return found and replace(found, before=ahead, folder="/".join(entered))


def command_of_words(
    words: Sequence[str], source: str, known: Mapping[str, str] | None = None
) -> DeployedCommand | None:
    """The same of a command's words, without what stands before the program."""
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
        behind = shell(rest[2], source, {**(known or {}), **env})
        return replace(behind, env={**env, **behind.env})
    # Where it listens is touchstone's to say, wherever it is said.
    whole = [filled(word, {**(known or {}), **env}) for word in rest]
    env = {name: value for name, value in env.items() if name not in _PLACES}
    unset = [found[1] for found in map(_GIVEN_OPTIONS.fullmatch, whole) if found]
    notes = [f"{source} has `${name}`, which nothing gives: left out" for name in unset]
    return DeployedCommand(list(_placed(whole)), source, env, notes=notes) if rest else None


def _without_options(words: list[str]) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in _VALUED else 1 :]
    return words


def shell(line: str, source: str, known: Mapping[str, str] | None = None) -> DeployedCommand:
    """A line as its last command; as the line of a shell if it takes one."""
    return command(line, source, known) or DeployedCommand([*_IN_SHELL, line], source)


def _is_elsewhere(option: str, address: str) -> bool:
    """Whether an address belongs to metrics or to a store."""
    named = set(re.split(r"[\W_]+", option.lower())) if option.startswith("-") else set()
    return any(map(is_of_others, named)) or address.rpartition(":")[2] in map(str, STORE_PORTS)


def is_of_others(word: str) -> bool:
    """Whether a word of a name says that its address is another one than the service's."""
    return _OF_OTHERS.fullmatch(word.lower()) is not None


def _placed(words: Sequence[str]) -> Iterator[str]:
    """Words without variables, with touchstone's address in place of their own."""
    for before, whole in pairwise(["", *words]):
        option, equals, given = whole.rpartition("=")
        if before in _PORT_OPTIONS and whole.isdigit():
            yield "{port}"
        elif before in _HOST_OPTIONS and whole in _HOSTS:
            yield "{host}"
        elif equals and option in _PORT_OPTIONS:
            yield f"{option}={{port}}"
        elif equals and option in _HOST_OPTIONS:
            yield f"{option}={{host}}"
        elif _is_elsewhere(option if equals else before, given):
            yield whole
        elif not _GIVEN_OPTIONS.fullmatch(whole):
            yield option + equals + _at_place(given)


def _at_place(word: str) -> str:
    """A word with touchstone's address in place of its own. A list of addresses, as of both families, becomes one."""
    each = [_ADDRESS.sub(r"\1{host}:{port}", one) for one in word.split(",")]
    return "{host}:{port}" if len(each) > 1 and set(each) == {"{host}:{port}"} else ",".join(each)


def filled(word: str, known: Mapping[str, str]) -> str:
    """A word with the values of its variables."""
    return _VARIABLE.sub(lambda found: _filled(found, known), word)


def _filled(found: re.Match[str], known: Mapping[str, str]) -> str:
    """The value of a variable: a place, what is set, what the line itself gives; or the variable."""
    name = found["braced"] or found["bare"]
    return _PLACES.get(name) or known.get(name) or found["otherwise"] or found[0]


def resolved_script(found: DeployedCommand, service: Path) -> DeployedCommand:
    """What a script of the service starts last, where that is a plain command. As it is otherwise."""
    for _ in range(_SCRIPTS_IN_SCRIPTS):
        words = found.words[1:] if found.words[0] in _SHELLS else found.words
        script = _script_in(service, words[0]) if words else None
        last = _started_by(script, words[1:]) if script else None
        if last is None:
            break
        folder = "/".join(part for part in (found.folder, last.folder) if part)
        env, before = {**found.env, **last.env}, [*found.before, *last.before]
        found = replace(last, env=env, before=before, folder=folder)
    return found


def is_script(word: str) -> bool:
    """Whether a word is called as a script of a shell is."""
    return _SCRIPT.fullmatch(PurePath(word).name) is not None


def _script_in(service: Path, word: str) -> Path | None:
    """The service's own file that a word names, wherever an image has it."""
    return file_in(service, word) if is_script(word) else None


def file_in(service: Path, word: str) -> Path | None:
    """The service's own file that a path names as an image or a machine has it: by as much of its end as is there."""
    parts = [part for part in PurePath(word).parts if part not in ("/", "..")]
    places = (service.joinpath(*parts[start:]) for start in range(len(parts)))
    return next((place for place in places if place.is_file()), None)


def _started_by(script: Path, arguments: Sequence[str]) -> DeployedCommand | None:
    """The last command of a script started with arguments, and the commands before it."""
    lines = [line.strip() for line in read_source(script).replace("\\\n", " ").splitlines()]
    *ahead, last = [line for line in lines if line and not line.startswith("#")] or [""]
    exported = dict(assignments([line.removeprefix("export ") for line in ahead if line.startswith("export ")]))
    entered = [line for line in ahead if _CD.fullmatch(line)]
    line = " && ".join([*entered, _ARGUMENTS.sub(lambda _: shlex.join(arguments), last)])
    found = command(line, script.name, exported)
    if found is None or last in _ENDING:
        return None
    before = [line for line in ahead if not _OF_THE_SCRIPT.match(line) and line not in entered]
    if any(map(_BRANCHING.match, before)):
        before = ["more than single commands: see what that does"]
    return replace(found, env={**exported, **found.env}, before=[*before, *found.before])


def assignments(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is set by `A=b C=d` or by `A b`, if it makes sense outside of an image."""
    return ((name, value) for name, value in assigned(lines) if is_portable(name, value))


def is_portable(name: str, value: str) -> bool:
    """Whether a variable means the same outside of an image."""
    return not _OF_THE_IMAGE.fullmatch(name) and "$" not in value


def assigned(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """All that is set so."""
    for line in lines:
        try:
            words = shlex.split(line) if "=" in line.split()[0] else ["=".join(line.split(maxsplit=1))]
        except (ValueError, IndexError):
            continue
        yield from ((found[1], found[2]) for found in filter(None, map(_ASSIGNMENT.match, words)))
