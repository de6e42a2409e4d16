"""JDKs, what builds with them, and native-image."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from touchstone.toolchain.cache import cache_folder
from touchstone.toolchain.tool import Tool


def _jdks() -> Iterable[Path]:
    """`java` at the places where distributions and people put JDKs, the newest name first."""
    homes = [Path(home) for name in ("JAVA_HOME", "JAVA25_HOME") if (home := os.environ.get(name))]
    roots = [
        Path("/usr/lib/jvm"),
        Path("/opt/java"),
        Path.home() / ".sdkman/candidates/java",
        Path.home() / ".jdks",
    ]
    homes += [home for root in roots if root.is_dir() for home in sorted(root.iterdir(), reverse=True)]
    return [home / "bin" / "java" for home in homes]


def _java_home(path: Path) -> dict[str, str]:
    return {"JAVA_HOME": str(path.resolve().parent.parent)}


def _native_images() -> Iterable[Path]:
    home = os.environ.get("GRAALVM_HOME")
    given = [Path(home) / "bin" / "native-image"] if home else []
    return [*given, cache_folder() / "native-image" / "bin" / "native-image"]


TOOLS = (
    Tool(
        "java",
        ("-version",),
        r'version "(\d+(?:\.\d+)*)',
        "install a JDK of that version (Temurin, for example) and set JAVA_HOME",
        places=_jdks,
        environment=_java_home,
    ),
    Tool(
        "mvn",
        ("--version",),
        r"Apache Maven (\d+(?:\.\d+)+)",
        "install it by `apt-get install maven` or from maven.apache.org",
    ),
    Tool(
        "gradle",
        ("--version",),
        r"Gradle (\d+(?:\.\d+)+)",
        "install it as gradle.org/install says",
        places=lambda: [Path.home() / ".sdkman/candidates/gradle/current/bin/gradle"],
    ),
    Tool(
        "native-image",
        ("--version",),
        r"(?:native-image|GraalVM)\D*(\d+(?:\.\d+)*)",
        "install GraalVM and set GRAALVM_HOME, or run `touchstone toolchain native-image`",
        places=_native_images,
        says_its_origin=True,
    ),
)
