"""Frameworks of the JVM: how each takes its port, and where its build leaves the program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from touchstone.intake.service.base import Words


@dataclass(frozen=True)
class Framework:
    """How a framework takes its port, and where its build leaves the program."""

    marks: tuple[str, ...]
    """What its build file has."""
    called: str
    options: Words = ()
    """Options of java, before the jar."""
    arguments: Words = ()
    env: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    """Below the build's folder, all that is shipped, if that is not the jar alone."""
    jar: str = ""
    """In that folder."""


SPRING = Framework(
    ("spring-boot", "org.springframework.boot"),
    "Spring Boot",
    arguments=["--server.address={host}", "--server.port={port}"],
)
FRAMEWORKS = (
    Framework(
        ("quarkus-maven-plugin", "io.quarkus"),
        "Quarkus",
        options=["-Dquarkus.http.host={host}", "-Dquarkus.http.port={port}"],
        folder="quarkus-app",
        jar="quarkus-run.jar",
    ),
    Framework(
        ("io.micronaut",),
        "Micronaut",
        env={"MICRONAUT_SERVER_HOST": "{host}", "MICRONAUT_SERVER_PORT": "{port}"},
    ),
    SPRING,
)


def framework_in(held: str) -> Framework:
    """The framework that build files name; one without a name if they name none."""
    return next((one for one in FRAMEWORKS if any(mark in held for mark in one.marks)), Framework((), ""))


def port_mark(framework: Framework) -> str:
    """A mark at the way in which the port is given."""
    if not framework.called:
        return "a jar that runs by itself is taken for what is deployed"
    return f"the port is given as {framework.called} takes it; another server takes it otherwise"
