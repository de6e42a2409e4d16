"""A service with a pom.xml, built by Maven or its wrapper, or a prebuilt jar."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from xml.etree import ElementTree

from touchstone.failure import UsageError
from touchstone.intake.service.base import DraftInstall, DraftStack, Words, below
from touchstone.intake.service.command import DeployedCommand
from touchstone.intake.service.deployed import Deployment
from touchstone.intake.service.jvm_frameworks import SPRING, framework_in, port_mark
from touchstone.intake.service.reading import read_text
from touchstone.intake.service.workspace import place_in, root_of

MARK = "pom.xml"
_JARS = ("*.jar", "build/libs/*.jar", "target/*.jar")
_NO_PROGRAM = ("-plain.jar", "-sources.jar", "-javadoc.jar")


_WITH_ALL = "jar-with-dependencies"
_PROPERTY = re.compile(r"\$\{([\w.-]+)\}")
_PROPERTIES_IN_PROPERTIES = 3
_ADDRESS = re.compile(r"--?(?:\w+\.)*(?:port|address|host)(?:=.*)?|.*\{(?:host|port)\}.*")
_JAVA = 17
"""The oldest Java that is asked for, if pom.xml names none that is newer."""
_JAVA_NAMES = ("maven.compiler.release", "maven.compiler.target", "java.version")


def draft(service: Path, found: Deployment) -> DraftStack:
    """Its stack, built by Maven. Raises UsageError if pom.xml cannot be read, or is one of modules alone."""
    pom = read_text(service / MARK)
    root = _root(pom, service / MARK)
    _refuse_parent(service, root)
    top = _top(service)
    place = place_in(service, top)
    # What all modules have in common stands above.
    common = read_text(top / MARK)
    framework = framework_in(f"{pom}\n{common}")
    shipped = f"target/{framework.folder or _jar_name(root, pom)}"
    jar = f"{shipped}/{framework.jar}" if framework.folder else shipped
    program, needs = wrapper(top, "mvnw", ".mvn/wrapper/maven-wrapper.properties", {"mvn": ">=3.6"})
    maven = [*program, "-B", "-q", "-f", below(MARK), "-DskipTests", *(["-pl", place, "-am"] if place else [])]
    env = {**(found.run.env if found.run else {}), **framework.env}
    words = found.run.words if found.run else ()
    return DraftStack(
        language="Kotlin" if (service / "src/main/kotlin").is_dir() else "Java",
        needs={"java": f">={max(_java(root), _java(_root(common, top / MARK)))}", **needs},
        install=DraftInstall([[*maven, "package"]]),
        build=[[*maven, "-o", "package"]],
        artifacts=[below(shipped, place)],
        run=[
            *("java", *jvm_options(words), *framework.options, "-jar", jar),
            *(*jvm_arguments(words), *framework.arguments),
        ],
        env=env,
        place=place,
        guessed=[port_mark(framework), *(found.run.marks() if found.run else []), *jvm_marks(found.run)],
    )


def wrapper(top: Path, script: str, beside: str, tool: Mapping[str, str]) -> tuple[Words, Mapping[str, str]]:
    """The repository's own way to start its build tool, which fetches the right version. Else the tool itself."""
    file = top / script
    if not (file.is_file() and (top / beside).is_file()):
        return list(tool), tool
    return ([below(script)] if os.access(file, os.X_OK) else ["sh", below(script)]), {}


def jvm_options(words: Words) -> Words:
    """What stands between `java` and `-jar` of the command that it is deployed with."""
    if "-jar" not in words or PurePath(words[0]).name != "java":
        return []
    return [word for word in words[1 : words.index("-jar")] if "/" not in word]


def jvm_arguments(words: Words) -> Words:
    """The words behind the jar of that command, without those that say where it listens."""
    behind = words[words.index("-jar") + 2 :] if "-jar" in words and PurePath(words[0]).name == "java" else []
    return [word for word in behind if "/" not in word and not _ADDRESS.fullmatch(word)]


def jvm_marks(run: DeployedCommand | None) -> list[str]:
    """A mark at each word of that command that names a file of the image."""
    if run is None or "-jar" not in run.words:
        return []
    at = run.words.index("-jar")
    left_out = [word for word in (*run.words[1:at], *run.words[at + 2 :]) if "/" in word]
    return [f"{run.source} has `{word}`: left out, for it names a file of the image" for word in left_out]


def _refuse_parent(service: Path, root: ElementTree.Element) -> None:
    if _said(root, "packaging") == "pom":
        modules = [one for one in _modules(service) if (service / one / MARK).is_file()]
        raise UsageError(
            f"this pom.xml has {len(modules)} modules, and makes no program of its own",
            where=str(service / MARK),
            fix=f"name the module that is the service: {', '.join(f'--service {service / one}' for one in modules)}",
        )


def _top(service: Path) -> Path:
    """The folder whose build makes the service: the highest one that has it as a module and that it needs."""
    above = [service]
    while root := root_of(above[-1], _modules):
        above.append(root)
    needed = (above[at] for at in reversed(range(1, len(above))) if _is_built_with(above[:at], above[at]))
    return next(needed, service)


def _is_built_with(modules: Sequence[Path], top: Path) -> bool:
    """Whether one of these modules inherits from the others of a build, or depends on one.

    Modules that do not are built by themselves: nothing holds a list of examples together.
    """
    own = {module.resolve() for module in modules}
    others = {_said(_root(read_text(file), file), "artifactId") for file in _poms(top) if file.parent not in own}
    roots = [_root(read_text(module / MARK), module / MARK) for module in modules]
    named = {(one.text or "").strip() for root in roots for one in root.iterfind(".//{*}artifactId")}
    return bool(named & others)


def _poms(top: Path) -> list[Path]:
    return [file for one in ("", *_modules(top)) if (file := (top / one / MARK).resolve()).is_file()]


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
        run=["java", "-jar", jar, *SPRING.arguments],
        guessed=[
            "the jar is taken as it lies there; build it before each run, or by `build`",
            port_mark(SPRING),
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
        raise UsageError(f"it is not XML: {error}", where=str(file), fix="correct the file") from error


def _jar_name(root: ElementTree.Element, pom: str) -> str:
    """The name of the file that `package` leaves and that runs by itself."""
    ending = _said(root, "packaging") or "jar"
    classifier = next((one.text.strip() for one in root.iterfind(".//{*}classifier") if one.text), "")
    artifact = _said(root, "artifactId") or "app"
    version = _said(root, "version") or _said(root, "parent/version") or "1.0"
    name = _said(root, "build/finalName") or f"{artifact}-{version}"
    known = {"project.artifactId": artifact, "project.version": version, "artifactId": artifact, "version": version}
    properties = root.find("{*}properties")
    for one in properties if properties is not None else ():
        known[one.tag.rpartition("}")[2]] = (one.text or "").strip()
    for _ in range(_PROPERTIES_IN_PROPERTIES):
        name = _PROPERTY.sub(lambda found: known.get(found[1], found[0]), name)
    whole = f"-{_WITH_ALL}" if _WITH_ALL in pom else f"-{classifier}" if classifier else ""
    return f"{name}{whole}.{ending}"


def _said(root: ElementTree.Element, path: str) -> str | None:
    """The text at a path, whatever the namespace."""
    found = root.find("/".join(f"{{*}}{part}" for part in path.split("/")))
    return found.text.strip() if found is not None and found.text else None
