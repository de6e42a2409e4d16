"""What the assembly needs of the machine, each with the way to get it."""

from __future__ import annotations

import platform
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from touchstone.failure import TouchstoneError
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import MissingTool

_FREE_BYTES = 2 * 10**9


class AssemblyError(TouchstoneError):
    """The builder cannot be put together here."""


@dataclass(frozen=True)
class Jdk:
    """The JDK that the builder runs on, and whose libraries go into images."""

    home: Path
    version: str
    """Such as 25.0.3."""
    build: str
    """Such as 9."""
    date: str
    implementor: str

    @property
    def full_version(self) -> str:
        """Such as 25.0.3+9: the name under which its source is published."""
        return f"{self.version}+{self.build}"


@dataclass(frozen=True)
class BuildTools:
    """Tools that were found."""

    jdk: Jdk
    gcc: Path
    maven: Path


def examine_machine(folder: Path) -> BuildTools:
    """Look for everything before anything is downloaded. Raises AssemblyError at the first thing that is missing."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise AssemblyError(
            f"the builder is put together for Linux on x86-64 only, and this is {platform.system()} on "
            f"{platform.machine()}",
            fix="install GraalVM and set GRAALVM_HOME",
        )
    java = find_tool("java", ">=25,<26")
    if isinstance(java, MissingTool):
        raise AssemblyError(
            "there is no JDK 25" + (f" (found {java.seen})" if java.seen else ""),
            fix="install Temurin 25 (adoptium.net) and set JAVA_HOME to it",
        )
    jdk = read_jdk(java.path.resolve().parent.parent)
    machine = BuildTools(
        jdk,
        gcc=_program("gcc", "`apt-get install gcc`: it compiles the JDK's C libraries and links images"),
        maven=_program("mvn", "`apt-get install maven`: it fetches the builder's jars"),
    )
    for program, package in (("ar", "binutils"), ("nm", "binutils"), ("tar", "tar"), ("xz", "xz-utils")):
        _program(program, f"`apt-get install {package}`")
    if not Path("/usr/include/zlib.h").is_file():
        raise AssemblyError(
            "zlib's headers are missing (/usr/include/zlib.h)",
            fix="`apt-get install zlib1g-dev`: the JDK's libzip is compiled against them, and images link libz",
        )
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < _FREE_BYTES:
        raise AssemblyError(
            f"only {free / 1e9:.1f} GB are free where the builder goes ({folder}), and 2 GB are needed",
            fix="make room, or move the cache by TOUCHSTONE_CACHE",
        )
    return machine


def read_jdk(home: Path) -> Jdk:
    """Read a JDK's `release` file, and see that it is whole. Raises AssemblyError."""
    try:
        text = (home / "release").read_text(encoding="utf-8")
    except OSError as error:
        raise AssemblyError(f"no JDK's release file: {error}", fix="set JAVA_HOME to a complete JDK 25") from error
    facts = dict(re.findall(r'^(\w+)="([^"]*)"$', text, re.MULTILINE))
    full = re.match(r"(\d+(?:\.\d+)*)\+(\d+)", facts.get("JAVA_RUNTIME_VERSION", ""))
    if full is None:
        raise AssemblyError(f"{home}/release names no version with a build number", fix="use Temurin 25")
    for needed in ("bin/javac", "lib/src.zip", "include/jni.h"):
        if not (home / needed).is_file():
            raise AssemblyError(
                f"the JDK at {home} has no {needed}",
                fix="use Temurin's archive of JDK 25: a JRE or a distribution's headless JDK is not enough",
            )
    return Jdk(home, full[1], full[2], facts.get("JAVA_VERSION_DATE", ""), facts.get("IMPLEMENTOR_VERSION", "JDK"))


def _program(name: str, fix: str) -> Path:
    path = shutil.which(name)
    if path is None:
        raise AssemblyError(f"there is no {name}", fix=fix)
    return Path(path)
