"""Kafka's jars: fetched once by Maven from the registry that Maven is set to, and kept in touchstone's cache."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from touchstone.dependency.base import DependencyContext, DependencyError
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

VERSION = "4.3.1"
JAVA = ">=17"
_ARTIFACTS = (
    ("org.apache.kafka", "kafka_2.13", VERSION),
    # Kafka brings the API of slf4j 1.7 alone; without a binding it logs nothing.
    ("org.slf4j", "slf4j-simple", "1.7.36"),
)
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>touchstone</groupId>
  <artifactId>kafka</artifactId>
  <version>{version}</version>
  <packaging>pom</packaging>
  <dependencies>{dependencies}</dependencies>
</project>
"""
_DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"


def missing(context: DependencyContext) -> str | None:
    """What must be installed before a broker can run here, and how. None if nothing is missing."""
    java = find_tool("java", JAVA)
    if not isinstance(java, FoundTool):
        return f"Kafka {java}, or name a broker with --kafka HOST:PORT"
    if not _kept(context).is_dir() and not isinstance(maven := find_tool("mvn"), FoundTool):
        return f"Kafka's jars are fetched once by Maven: {maven}, or name a broker with --kafka HOST:PORT"
    return None


def class_path(context: DependencyContext) -> str:
    """The class path of a broker; fetches the jars if they are not in the cache. Raises DependencyError."""
    kept = _kept(context)
    if not kept.is_dir():
        _fetch(kept)
    return str(kept / "*")


def _kept(context: DependencyContext) -> Path:
    return context.cache / f"kafka-{VERSION}"


def _fetch(kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    maven = find_tool("mvn")
    if not isinstance(maven, FoundTool):
        raise DependencyError(f"Kafka's jars cannot be fetched: {maven}", fix="or name a broker with --kafka HOST:PORT")
    with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
        folder = Path(scratch)
        listed = "".join(_DEPENDENCY.format(*artifact) for artifact in _ARTIFACTS)
        (folder / "pom.xml").write_text(_POM.format(version=VERSION, dependencies=listed), encoding="utf-8")
        command = [str(maven.path), "-q", "-B", "-U", "dependency:copy-dependencies", "-DincludeScope=runtime"]
        done = subprocess.run(
            [*command, f"-DoutputDirectory={folder / 'jars'}"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        if done.returncode != 0 or not list(folder.glob("jars/kafka_*.jar")):
            raise DependencyError(
                f"Maven could not fetch Kafka {VERSION}:\n{(done.stdout + done.stderr).strip()[-2000:]}",
                fix="see that Maven reaches its registry, or name a broker with --kafka HOST:PORT",
            )
        # Renamed only when whole, so that an interruption leaves no half of it in the cache.
        try:
            (folder / "jars").rename(kept)
        except OSError:
            # Another run was faster; its jars are as good.
            if not kept.is_dir():
                raise
        shutil.rmtree(folder / "jars", ignore_errors=True)
