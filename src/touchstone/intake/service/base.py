"""A stack to edit, drafted from what lies in a service's folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.intake.toml import table, text, value
from touchstone.manifest.files import STACK_SCHEMA

APP = "app"
"""The service's folder within the work folder."""
Words = Sequence[str]
"""A command."""
_ONE_LINE = re.compile(r"[\x00-\x1f\x7f]+")
_TOLD = "# It gets HOST and PORT in its environment; {host} and {port} stand for them, here and in `env`."


@dataclass(frozen=True)
class DraftInstall:
    """How what the service depends on is got."""

    commands: Sequence[Words]
    files: Sequence[str] = ()
    leaves: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DraftStack:
    """How a service is built and run, as its own files have it."""

    language: str
    needs: Mapping[str, str]
    artifacts: Sequence[str]
    run: Words
    """As from the service's folder; a program that lies in the work folder as from there."""
    install: DraftInstall | None = None
    build: Sequence[Words] = ()
    build_env: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    """What its command sets for itself."""
    port: int | None = None
    """The fixed port of a service that ignores `PORT`."""
    name: str = ""
    """What its files call it: its variables may begin with that."""
    folders: Sequence[str] | None = None
    """The folders whose files it is compiled of, as from the service's; None if that is not known."""
    place: str = ""
    """Where the service lies within the workspace that is copied whole; empty if it is copied alone."""
    inside: str = ""
    """The folder in which it is started, as from the service's; empty for that itself."""
    wanted: Sequence[str] = ()
    """Variables that are given where it is deployed, and that nothing here gives."""
    at_top: bool = False
    """Whether it is started at that workspace's top, and not in its own folder."""
    guessed: Sequence[str] = ()
    """What the author should look at."""

    def toml(self, name: str, scenario: str, title: str, source: str) -> str:
        """The text of a stack.toml; `source` is the path from its folder to the service's."""
        return "\n".join(self._lines(name, scenario, title, source)) + "\n"

    def marks(self) -> list[str]:
        """What the author should look at, as comments may have it: a line each, without control characters."""
        return list(dict.fromkeys(_ONE_LINE.sub(" ", guess).strip() for guess in self.guessed))

    def _lines(self, name: str, scenario: str, title: str, source: str) -> Iterator[str]:
        yield STACK_SCHEMA
        yield "# A draft from the service's own files. Look at what is marked."
        yield "schema = 1"
        yield f"name = {text(name)}"
        yield f"scenario = {text(scenario)}"
        yield f"title = {text(title)}"
        yield f"language = {text(self.language)}"
        what = "the service's workspace" if self.place else "the service"
        yield f"extra_sources = {table({APP: source})}   # {what} as it is: its files lie below {APP}/"
        yield from ("", "[needs]")
        yield from (f"{tool} = {text(version)}" for tool, version in self.needs.items())
        if self.install:
            yield from ("", "[install]                   # kept apart from the build, and from its time")
            if self.install.files:
                yield f"files = {value(list(self.install.files))}"
            yield from _commands("commands", self.install.commands)
            if self.install.leaves:
                yield f"leaves = {value(list(self.install.leaves))}"
            if self.install.env:
                yield f"env = {table(self.install.env)}"
        yield from ("", "[variants.plain]", 'title = "as it is deployed"')
        if self.build:
            yield from _commands("build", self.build)
        if self.build_env:
            yield f"build_env = {table(self.build_env)}"
        yield from (f"# look: {mark}" for mark in self.marks())
        yield f"artifacts = {value(list(self.artifacts))}   # all that is shipped"
        if self.port is not None:
            yield f"port = {self.port}   # where it listens; without it, on HOST and PORT from the environment"
        else:
            yield _TOLD
        yield f"run = {value(list(self.run))}"
        top = f"; {text(APP)} is the workspace's top" if self.place else ""
        started = APP if self.at_top else below(self.inside, self.place)
        yield f"run_in = {text(started)}   # the folder in which it is started{top}"
        if self.env:
            yield f"env = {table(self.env)}"


def _commands(key: str, commands: Sequence[Words]) -> Iterator[str]:
    if len(commands) == 1:
        yield f"{key} = [{value(list(commands[0]))}]"
        return
    yield from (f"{key} = [", *(f"  {value(list(words))}," for words in commands), "]")


def below(path: str, place: str = "") -> str:
    """A service's file as named in the work folder. `place` is the service's place in its workspace."""
    return "/".join(part for part in (APP, place, path) if part not in (".", ""))


def first_there(service: Path, names: Iterable[str]) -> str | None:
    """The first of these files that the service has."""
    return next((name for name in names if (service / name).is_file()), None)
