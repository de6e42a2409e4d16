"""How many CPUs a runtime counts under a quota: by asking it, or by the rule of its version."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from packaging.version import Version

from touchstone.bench.base import Built
from touchstone.bench.counted_cpus import counted_cpus
from touchstone.isolation.delegation import lacking
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

LIMITED = pytest.mark.skipif(lacking("cpu") is not None or len(os.sched_getaffinity(0)) < 2, reason="needs cpu, 2 CPUs")
JDK_25 = find_tool("java", ">=25")
ENV = {"PATH": os.environ["PATH"], "HOME": "/tmp"}


def counted(
    argv: list[str], quota: float, cpus: int, tools: dict[str, FoundTool] | None = None, **env: str
) -> int | None:
    built = Built(Path("/tmp"), (), tuple(argv), {})
    found = counted_cpus(built, ENV | env, tools or {}, sorted(os.sched_getaffinity(0))[:cpus], quota)
    return found.count if found else None


@LIMITED
@pytest.mark.skipif(shutil.which("java") is None, reason="needs a JDK")
@pytest.mark.parametrize(
    ("quota", "flags", "count"), [(0.5, [], 1), (1.5, [], 2), (0.5, ["-XX:ActiveProcessorCount=7"], 7)]
)
def test_java_rounds_up(quota: float, flags: list[str], count: int) -> None:
    assert counted(["java", *flags, "-jar", "server.jar"], quota, 2) == count


@LIMITED
@pytest.mark.skipif(not isinstance(JDK_25, FoundTool), reason="needs a JDK 25")
@pytest.mark.parametrize(("quota", "count"), [(0.5, 1), (1.0, 1), (1.5, 2)])
def test_java_25_that_sees_no_container_counts_all_cpus(quota: float, count: int) -> None:
    """JDK 25.0.3 on two CPUs under 1.5 of them says "System not containerized", and no count."""
    assert isinstance(JDK_25, FoundTool)
    assert counted([str(JDK_25.path), "-jar", "server.jar"], quota, 2) == count


@LIMITED
@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_a_runtime_is_asked_on_the_contenders_own_cpus() -> None:
    assert counted(["node", "server.js"], 0.5, 1) == 1


@pytest.mark.parametrize(("quota", "count"), [(0.5, 1), (1.5, 1), (2.5, 2), (99.0, 4)])
def test_rust_rounds_down(monkeypatch: pytest.MonkeyPatch, quota: float, count: int) -> None:
    built = Built(Path("/tmp"), (), ("/tmp/server",), {})
    found = counted_cpus(built, ENV, {"cargo": tool("cargo")}, [0, 1, 2, 3], quota)
    assert found is not None
    assert (found.count, found.asked) == (count, False)


@pytest.mark.parametrize(
    ("version", "setting", "env", "quota", "count"),
    [
        ("1.24.4", "", {}, 1.5, 4),
        ("1.25", "", {}, 1.5, 2),
        ("1.26.8", "", {}, 0.5, 2),
        ("1.26.8", "", {}, 2.5, 3),
        ("1.26.8", "", {}, 9.0, 4),
        ("1.26.8", "containermaxprocs=0,updatemaxprocs=0", {}, 1.5, 4),
        ("1.26.8", "containermaxprocs=0", {"GODEBUG": "containermaxprocs=1"}, 1.5, 2),
        ("1.26.8", "", {"GODEBUG": "containermaxprocs=0"}, 1.5, 4),
        ("1.26.8", "", {"GOMAXPROCS": "3"}, 1.5, 3),
    ],
)
def test_go_rounds_up_from_1_25_on(
    monkeypatch: pytest.MonkeyPatch, version: str, setting: str, env: dict[str, str], quota: float, count: int
) -> None:
    said = f"/tmp/server: go{version}\n\tpath\tx\n" + (f"\tbuild\tDefaultGODEBUG={setting}\n" if setting else "")
    done = subprocess.CompletedProcess([], 0, said, "")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    built = Built(Path("/tmp"), (), ("/tmp/server",), {})
    found = counted_cpus(built, ENV | env, {"go": tool("go")}, [0, 1, 2, 3], quota)
    assert found is not None
    assert found.count == count


def test_what_is_not_known_is_not_guessed() -> None:
    assert counted(["/opt/native/server"], 0.5, 1) is None
    assert counted(["/nowhere/node", "server.js"], 0.5, 1) is None
    assert counted(["/opt/server"], 0.5, 1, {"native-image": tool("native-image"), "cxx": tool("cxx")}) is None


def tool(name: str) -> FoundTool:
    return FoundTool(name, Path("/usr/bin") / name, Version("1.0"))
