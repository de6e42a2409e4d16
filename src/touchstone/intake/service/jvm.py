"""A service with a pom.xml, or a jar that was built before."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from touchstone.failure import UsageError
from touchstone.intake.service.base import DraftInstall, DraftStack, below, read_text

MARK = "pom.xml"
GRADLE = ("build.gradle.kts", "build.gradle")
_JARS = ("*.jar", "build/libs/*.jar", "target/*.jar")
_NO_PROGRAM = ("-plain.jar", "-sources.jar", "-javadoc.jar")
_SPRING = ["--server.address={host}", "--server.port={port}"]
_JAVA = 17
"""The oldest Java that is asked for, if pom.xml names none that is newer."""
_JAVA_NAMES = ("maven.compiler.release", "maven.compiler.target", "java.version")
_LOOK = "the port is given as Spring Boot takes it; another server takes it otherwise"


def draft(service: Path) -> DraftStack:
    """Its stack, built by Maven. Raises UsageError if pom.xml cannot be read."""
    jar = f"target/{_jar_name(service / MARK)}"
    maven = ["mvn", "-B", "-q", "-f", below(MARK), "-DskipTests"]
    spring = "spring-boot" in read_text(service / MARK)
    return DraftStack(
        language="Java",
        needs={"java": f">={_java(service / MARK)}", "mvn": ">=3.6"},
        install=DraftInstall([[*maven, "package"]]),
        build=[[*maven, "-o", "package"]],
        artifacts=[below(jar)],
        run=["java", "-jar", jar, *(_SPRING if spring else [])],
        guessed=[_LOOK] if spring else ["a jar that runs by itself is taken for what is deployed"],
    )


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
        run=["java", "-jar", jar, *_SPRING],
        guessed=["the jar is taken as it lies there; build it before each run, or by `build`", _LOOK],
    )


def _java(pom: Path) -> int:
    """The Java that it is compiled for: an older one, which may be the first on PATH, cannot build it."""
    root = _root(pom)
    named = [_said(root, f"properties/{name}") or "" for name in _JAVA_NAMES]
    return max([_JAVA, *(int(version) for version in named if version.isdecimal())])


def _root(pom: Path) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(read_text(pom))
    except ElementTree.ParseError as error:
        raise UsageError(f"it is no XML: {error}", where=str(pom), fix="correct the file") from error


def _jar_name(pom: Path) -> str:
    root = _root(pom)
    final = _said(root, "build/finalName")
    if final and "$" not in final:
        return f"{final}.jar"
    version = _said(root, "version") or _said(root, "parent/version") or "1.0"
    return f"{_said(root, 'artifactId') or 'app'}-{version}.jar"


def _said(root: ElementTree.Element, path: str) -> str | None:
    """The text at a path, whatever the namespace."""
    found = root.find("/".join(f"{{*}}{part}" for part in path.split("/")))
    return found.text.strip() if found is not None and found.text else None
