"""A service with a pom.xml, or a jar that was built before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from touchstone.failure import UsageError
from touchstone.intake.service.base import DraftInstall, DraftStack, Words, below, read_text
from touchstone.intake.service.workspace import place_in, root_of

MARK = "pom.xml"
GRADLE = ("build.gradle.kts", "build.gradle")
_JARS = ("*.jar", "build/libs/*.jar", "target/*.jar")
_NO_PROGRAM = ("-plain.jar", "-sources.jar", "-javadoc.jar")


@dataclass(frozen=True)
class _Framework:
    """How a framework is told where to listen, and where its build leaves what runs."""

    mark: str
    """What its pom.xml has."""
    called: str
    options: Words = ()
    """Of java, before the jar."""
    arguments: Words = ()
    env: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    """Below target/, all that is shipped, if that is not the jar alone."""
    jar: str = ""
    """In that folder."""


_SPRING = _Framework("spring-boot", "Spring Boot", arguments=["--server.address={host}", "--server.port={port}"])
_FRAMEWORKS = (
    _Framework(
        "quarkus-maven-plugin",
        "Quarkus",
        options=["-Dquarkus.http.host={host}", "-Dquarkus.http.port={port}"],
        folder="quarkus-app",
        jar="quarkus-run.jar",
    ),
    _Framework(
        "io.micronaut",
        "Micronaut",
        env={"MICRONAUT_SERVER_HOST": "{host}", "MICRONAUT_SERVER_PORT": "{port}"},
    ),
    _SPRING,
)
_ALONE = "a jar that runs by itself is taken for what is deployed"
_WITH_ALL = "jar-with-dependencies"
_JAVA = 17
"""The oldest Java that is asked for, if pom.xml names none that is newer."""
_JAVA_NAMES = ("maven.compiler.release", "maven.compiler.target", "java.version")
_LOOK = "the port is given as {} takes it; another server takes it otherwise"


def draft(service: Path) -> DraftStack:
    """Its stack, built by Maven. Raises UsageError if pom.xml cannot be read."""
    pom = read_text(service / MARK)
    root = _root(pom, service / MARK)
    top = service
    while above := root_of(top, _modules):
        top = above
    place = place_in(service, top)
    # What all modules have in common stands above.
    common = read_text(top / MARK)
    framework = next((one for one in _FRAMEWORKS if one.mark in pom or one.mark in common), _Framework("", ""))
    shipped = f"target/{framework.folder or _jar_name(root, pom)}"
    jar = f"{shipped}/{framework.jar}" if framework.folder else shipped
    maven = ["mvn", "-B", "-q", "-f", below(MARK), "-DskipTests", *(["-pl", place, "-am"] if place else [])]
    return DraftStack(
        language="Kotlin" if (service / "src/main/kotlin").is_dir() else "Java",
        needs={"java": f">={max(_java(root), _java(_root(common, top / MARK)))}", "mvn": ">=3.6"},
        install=DraftInstall([[*maven, "package"]]),
        build=[[*maven, "-o", "package"]],
        artifacts=[below(shipped, place)],
        run=["java", *framework.options, "-jar", jar, *framework.arguments],
        env=framework.env,
        place=place,
        guessed=[_LOOK.format(framework.called) if framework.called else _ALONE],
    )


def _modules(folder: Path) -> list[str]:
    """The folders of a folder's modules."""
    file = folder / MARK
    if not file.is_file():
        return []
    named = _root(read_text(file), file).iterfind("{*}modules/{*}module")
    return [one.text.strip() for one in named if one.text]


def prebuilt(service: Path) -> str | None:
    """The path of a jar that lies there, if there is no doubt which."""
    jars = [path for pattern in _JARS for path in service.glob(pattern) if not path.name.endswith(_NO_PROGRAM)]
    return str(jars[0].relative_to(service)) if len(jars) == 1 else None


def draft_prebuilt(jar: str) -> DraftStack:
    """The stack of a jar that was built before, by its path within the service."""
    return DraftStack(
        language="Java",
        needs={"java": f">={_JAVA}"},
        artifacts=[below(jar)],
        run=["java", "-jar", jar, *_SPRING.arguments],
        guessed=[
            "the jar is taken as it lies there; build it before each run, or by `build`",
            _LOOK.format(_SPRING.called),
        ],
    )


def _java(root: ElementTree.Element) -> int:
    """The Java that it is compiled for: an older one, which may be the first on PATH, cannot build it."""
    named = [_said(root, f"properties/{name}") or "" for name in _JAVA_NAMES]
    return max([_JAVA, *(int(version) for version in named if version.isdecimal())])


def _root(pom: str, file: Path) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(pom)
    except ElementTree.ParseError as error:
        raise UsageError(f"it is no XML: {error}", where=str(file), fix="correct the file") from error


def _jar_name(root: ElementTree.Element, pom: str) -> str:
    final = _said(root, "build/finalName")
    if final and "$" not in final:
        return f"{final}.jar"
    version = _said(root, "version") or _said(root, "parent/version") or "1.0"
    whole = f"-{_WITH_ALL}" if _WITH_ALL in pom else ""
    return f"{_said(root, 'artifactId') or 'app'}-{version}{whole}.jar"


def _said(root: ElementTree.Element, path: str) -> str | None:
    """The text at a path, whatever the namespace."""
    found = root.find("/".join(f"{{*}}{part}" for part in path.split("/")))
    return found.text.strip() if found is not None and found.text else None
