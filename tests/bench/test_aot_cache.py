"""What a JVM says of an AOT cache or a CDS archive, asked of real JVMs."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from touchstone.bench.aot_cache import aot_cache
from touchstone.bench.artifact_identity import is_code_cache, is_compiled
from touchstone.bench.base import Built
from touchstone.record.process import AotCache
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

JDK = find_tool("java", ">=25")
pytestmark = pytest.mark.skipif(not isinstance(JDK, FoundTool), reason="needs a JDK 25")
BIN = JDK.path.parent if isinstance(JDK, FoundTool) else Path()
ENV = {"PATH": os.environ["PATH"], "HOME": "/tmp"}


def run_jdk(folder: Path, tool: str, *arguments: str) -> None:
    subprocess.run([str(BIN / tool), *arguments], cwd=folder, check=True, capture_output=True, timeout=120)


def pack(folder: Path, says: str) -> None:
    (folder / "Main.java").write_text(
        f'public class Main {{ public static void main(String[] a) {{ System.out.println("{says}"); }} }}'
    )
    run_jdk(folder, "javac", "Main.java")
    run_jdk(folder, "jar", "--create", "--file", "app.jar", "--main-class", "Main", "Main.class")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("aot")
    pack(path, "first")
    run_jdk(path, "java", "-XX:AOTCacheOutput=app.aot", "-jar", "app.jar")
    run_jdk(path, "java", "-XX:ArchiveClassesAtExit=app.jsa", "-jar", "app.jar")
    return path


def found(folder: Path, *flags: str, env: dict[str, str] | None = None) -> AotCache:
    argv = (str(BIN / "java"), *flags, "-jar", "app.jar")
    cache = aot_cache(Built(folder, (folder / "app.jar", folder / "app.aot"), argv, {}), ENV | (env or {}))
    assert cache is not None
    return cache


@pytest.mark.parametrize(
    "flags", [["-XX:AOTCache=app.aot"], ["-XX:AOTCache=app.aot", "-XX:+UseSerialGC"], ["-XX:SharedArchiveFile=app.jsa"]]
)
def test_a_cache_that_fits_is_taken(folder: Path, flags: list[str]) -> None:
    cache = found(folder, *flags)
    assert cache.refused is None
    assert cache.newer == []
    assert 0 < cache.classes <= cache.loaded


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["-XX:AOTCache=app.aot", "-XX:+UseCompactObjectHeaders"], "UseCompactObjectHeaders"),
        (["-XX:AOTCache=app.aot", "-XX:+UseZGC"], "UseCompressedOops"),
        (["-XX:AOTCache=app.aot", "-XX:AOTMode=auto", "-Xmx40g"], "UseCompressedOops"),
        (["-XX:AOTCache=app.aot", "-XX:AOTMode=off"], "-XX:AOTMode=off"),
        (["-XX:AOTCache=other.aot"], "no such file"),
    ],
)
def test_a_cache_that_does_not_fit_is_refused_with_the_jvms_reason(folder: Path, flags: list[str], reason: str) -> None:
    cache = found(folder, *flags)
    assert reason in (cache.refused or "")
    assert cache.classes == 0


def test_a_cache_is_found_in_the_environment(folder: Path) -> None:
    assert found(folder, env={"JAVA_TOOL_OPTIONS": "-XX:AOTCache=app.aot"}).file == "app.aot"


def test_a_cache_and_an_archive_are_compiled_files(folder: Path) -> None:
    for name in ("app.aot", "app.jsa"):
        assert is_code_cache(folder / name)
        assert is_compiled(folder / name)
    assert not is_code_cache(folder / "app.jar")


def test_a_jar_that_was_replaced_is_newer_whatever_its_time_says(folder: Path) -> None:
    """The JVM (25.0.3) says nothing, and runs what the cache holds; of a CDS archive it says that the file changed."""
    time.sleep(1.1)  # File systems may keep whole seconds.
    cache_written = (folder / "app.aot").stat()
    pack(folder, "second, which is longer")
    os.utime(folder / "app.jar", (cache_written.st_atime - 9, cache_written.st_mtime - 9))
    cache = found(folder, "-XX:AOTCache=app.aot")
    assert cache.refused is None
    assert cache.newer == ["app.jar"]
    assert "app.jar" in (found(folder, "-XX:SharedArchiveFile=app.jsa").refused or "")


def test_a_command_without_a_cache_is_not_asked() -> None:
    assert aot_cache(Built(Path("/tmp"), (), ("/nowhere/java", "-jar", "app.jar"), {}), ENV) is None
    assert aot_cache(Built(Path("/tmp"), (), ("node", "-XX:AOTCache=x"), {}), ENV) is None
