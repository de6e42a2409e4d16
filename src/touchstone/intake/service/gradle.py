"""A service with a build.gradle or a build.gradle.kts, built by its wrapper or by Gradle."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from touchstone.failure import UsageError
from touchstone.intake.service.base import APP, DraftInstall, DraftStack, Words, below, first_there
from touchstone.intake.service.deployed import Deployment
from touchstone.intake.service.jvm import jvm_arguments, jvm_marks, jvm_options, wrapper
from touchstone.intake.service.jvm_frameworks import Framework, framework_in, port_mark
from touchstone.intake.service.reading import read_source
from touchstone.intake.service.workspace import place_in, root_of

MARKS = ("build.gradle.kts", "build.gradle")
_SETTINGS = ("settings.gradle.kts", "settings.gradle")
_WRAPPER = "gradle/wrapper/gradle-wrapper.jar"
_INCLUDED = re.compile(r"""\binclude\b[\s(]*((?:["'][\w:.-]+["'][\s,]*)+)""")
_QUOTED = re.compile(r"""["']:?([\w:.-]+)["']""")
_NAME = re.compile(r"""rootProject\.name\s*=\s*["']([\w.-]+)["']""")
_APPLICATION_NAME = re.compile(r"""applicationName\s*=\s*["']([\w.-]+)["']""")
_JAVA = re.compile(
    r"""(?:JavaLanguageVersion\.of|jvmToolchain)\((\d+)\)|VERSION_(\d+)|Compatibility\s*=\s*["']?(\d+)"""
)
_OLDEST_JAVA = 17
_JAR = "service.jar"


@dataclass(frozen=True)
class _Built:
    """What a task leaves: all jars that are like a pattern below build/libs, or a folder that is shipped."""

    task: str
    jars: str = ""
    folder: str = ""
    mark: str = ""


def draft(service: Path, found: Deployment) -> DraftStack:
    """Its stack."""
    top = root_of(service, _modules) or service
    place = place_in(service, top)
    held = "\n".join(read_source(folder / name) for folder in dict.fromkeys((service, top)) for name in MARKS)
    catalogue = read_source(top / "gradle/libs.versions.toml")
    framework = framework_in(held)
    name = _name(service, top, held)
    made = _built(held, catalogue, framework, name)
    if made.mark and not place:
        _refuse_top(service)
    program, needs = wrapper(top, "gradlew", _WRAPPER, {"gradle": ">=7"})
    words = [*program, "-p", below("", place), "-q", "--no-daemon"]
    kept = below(f"build/{made.folder}", place) if made.folder else ""
    copied = [["sh", "-c", f"cp {below('build/libs', place)}/{made.jars} {_JAR}"]] if made.jars else []
    run, arguments = _run(made, framework, held, name, place)
    deployed = found.run
    said = deployed.words if deployed else ()
    options = [*jvm_options(said), *framework.options]
    return DraftStack(
        language="Kotlin" if (service / "src/main/kotlin").is_dir() else "Java",
        needs={"java": f">={_java(held)}", **needs},
        install=DraftInstall([[*words, made.task]]),
        build=[[*words, "--offline", made.task], *copied],
        artifacts=[kept or _JAR],
        run=["java", *options, *run, *jvm_arguments(said), *arguments] if run[0] == "-jar" else [*run, *arguments],
        env={**(deployed.env if deployed else {}), **framework.env},
        name=name,
        place=place,
        guessed=[
            *([port_mark(framework)] if framework.called or made.jars else []),
            *([made.mark] if made.mark else []),
            *(deployed.marks() if deployed else []),
            *jvm_marks(deployed),
        ],
    )


def _refuse_top(service: Path) -> None:
    """Raises UsageError if the projects below this one are what is deployed."""
    builds = {name: "\n".join(read_source(service / name / mark) for mark in MARKS) for name in _modules(service)}
    deployed = [name for name, held in builds.items() if not _built(held, "", framework_in(held), name).mark]
    if deployed:
        raise UsageError(
            "this is a build of several projects, and the one at its top has nothing to deploy",
            where=str(service),
            fix="name the project that is the service: "
            + ", ".join(f"--service {service / name}" for name in deployed),
        )


def _built(held: str, catalogue: str, framework: Framework, name: str) -> _Built:
    """What is built, by the plugins that it applies."""
    plugins = f"{held}\n{catalogue}"
    if framework.called == "Quarkus":
        return _Built("quarkusBuild", folder=framework.folder)
    if framework.called == "Spring Boot":
        return _Built("bootJar", jars="*.jar")
    if "io.ktor.plugin" in plugins:
        return _Built("buildFatJar", jars="*-all.jar")
    if framework.called == "Micronaut" or re.search(r"\bshadow\b", plugins):
        return _Built("shadowJar", jars="*-all.jar")
    mark = "" if re.search(r"\bapplication\b", held) else "no plugin tells what is deployed: is it `installDist`?"
    return _Built("installDist", folder=f"install/{name}", mark=mark)


def _run(made: _Built, framework: Framework, held: str, name: str, place: str) -> tuple[Words, Words]:
    """What is started, as from the service's folder, and its arguments."""
    arguments = list(framework.arguments)
    if "io.ktor.server" in held and "EngineMain" in held:
        arguments = ["-host={host}", "-port={port}"]
    if made.jars:
        return ["-jar", "../" * len(Path(APP, place).parts) + _JAR], arguments
    if framework.jar:
        return ["-jar", f"build/{made.folder}/{framework.jar}"], arguments
    # A script that starts java with all that it needs on its class path.
    return [below(f"build/{made.folder}/bin/{name}", place)], arguments


def _name(service: Path, top: Path, held: str) -> str:
    """What its program is called: as the build says, or as the project."""
    if found := _APPLICATION_NAME.search(held):
        return found[1]
    settings = "\n".join(read_source(top / name) for name in _SETTINGS)
    called = _NAME.search(settings) if service.resolve() == top.resolve() else None
    return called[1] if called else service.resolve().name


def _modules(folder: Path) -> list[str]:
    """The folders of a folder's modules."""
    settings = first_there(folder, _SETTINGS)
    held = read_source(folder / settings) if settings else ""
    named = (name for found in _INCLUDED.finditer(held) for name in _QUOTED.findall(found[1]))
    return [name.replace(":", "/") for name in named]


def _java(held: str) -> int:
    """The Java that it is compiled for."""
    named: Mapping[int, None] = {int(one[1] or one[2] or one[3]): None for one in _JAVA.finditer(held)}
    return max([_OLDEST_JAVA, *named])
