"""How a service is deployed, by the first of its files that has a command: a Procfile, a Dockerfile, a platform's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from touchstone.intake.service.base import DraftStack
from touchstone.intake.service.command import DeployedCommand
from touchstone.intake.service.dockerfile import DockerfileImage, context_of, dockerfile_of, image_of
from touchstone.intake.service.platforms import DeploymentFile, composed_dockerfiles, platforms, procfile
from touchstone.intake.service.servers import without_sockets

_BY_SHELL = "sh"
_NOT_COMPILED = re.compile(r"sh|bash|go|cargo|make|air|nginx|caddy|node|npm|java|python3?")
"""Programs that may stand in a compiled service's files, and are not the service."""
_FRONT = ("nginx", "caddy", "httpd", "apache2", "supervisord", "tail", "true", "sleep")
"""Programs that an image may start and that are not the repository's own service."""
_CALLED = re.compile(r"(?:\w+_)?(?:URL|URI|DSN|HOSTS?|ADDR|BROKERS|SERVERS|ENDPOINT)")
_ELSEWHERE = re.compile(r"(?!sqlite|file)[a-z][\w+.-]*://(?!0\.0\.0\.0)|^(?!0\.0\.0\.0)[\w.-]+(?::\d+)?$")
"""A value that names another host: what a container finds there, a process of touchstone does not."""


@dataclass(frozen=True)
class DeployedPort:
    """A port on which what deploys a service reaches it, and the file that says so."""

    number: int
    source: str


@dataclass(frozen=True)
class Deployment:
    """What all files together say."""

    run: DeployedCommand | None = None
    ports: Sequence[DeployedPort] = ()
    wanted: Sequence[str] = ()
    """Variables that are given there by values that the files do not have, or that name hosts of theirs."""
    image: DockerfileImage | None = None
    build_env: Mapping[str, str] = field(default_factory=dict)
    """What is set while the image is made."""


def deployed(service: Path, dockerfile: Path | None = None) -> Deployment:
    """How the service is started and reached. A shell is used if no file has a plain command."""
    file = dockerfile or dockerfile_of(service, composed_dockerfiles(service))
    image = image_of(file, service, context_of(file, service)) if file else None
    built = [DeploymentFile(image.source, image.run, image.ports)] if image else []
    files = [*procfile(service), *built, *platforms(service)]
    runs = [one.run for one in files if one.run and PurePath(one.run.words[0]).name not in _FRONT]
    run = min(runs, key=lambda one: one.words[0] == _BY_SHELL, default=None)
    ports = [DeployedPort(port, one.source) for one in files for port in one.ports]
    wanted = [name for one in files for name in one.wanted]
    if run:
        called = [name for name, value in run.env.items() if _CALLED.fullmatch(name) and _ELSEWHERE.match(value)]
        run = replace(run, env={name: value for name, value in run.env.items() if name not in called})
        wanted += called
    return Deployment(run, ports, wanted, image, image.build_env if image else {})


def with_arguments(drafted: DraftStack, found: Deployment) -> DraftStack:
    """A compiled program's draft, with the arguments that it is deployed with."""
    run = found.run
    if run is None or _NOT_COMPILED.fullmatch(PurePath(run.words[0]).name) or not (run.words[1:] or run.env):
        return drafted
    run = without_sockets(run)
    return replace(
        drafted,
        run=[*drafted.run, *run.words[1:]],
        env={**drafted.env, **run.env},
        guessed=[*drafted.guessed, f"the arguments of its {run.source}", *run.marks()],
    )


def with_address(found: DeployedCommand, *options: str) -> DeployedCommand:
    """With options that say where it listens, unless it says so itself."""
    return found if found.addressed else replace(found, words=[*found.words, *options])
