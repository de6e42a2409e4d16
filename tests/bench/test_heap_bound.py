"""How large a runtime lets its heap become under a memory limit: real runtimes are asked."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from touchstone.bench.base import Built
from touchstone.bench.heap_bound import heap_bound
from touchstone.isolation.delegation import lacking

ENV = {"PATH": os.environ["PATH"], "HOME": "/tmp"}
LIMITED = pytest.mark.skipif(lacking("memory") is not None, reason="needs the controller memory")
MIB = 2**20


def bound(*argv: str, memory_mb: int, **env: str) -> int | None:
    found = heap_bound(Built(Path("/tmp"), (), argv, {}), ENV | env, memory_mb * MIB)
    return found.bytes // MIB if found else None


@LIMITED
@pytest.mark.skipif(shutil.which("java") is None, reason="needs a JDK")
def test_java_takes_its_heap_from_the_limit() -> None:
    assert bound("java", "-jar", "x.jar", memory_mb=512) == 128
    assert bound("java", "-Xmx90m", "-jar", "x.jar", memory_mb=512) == 90
    assert bound("java", "-XX:MaxRAMPercentage=75", "-jar", "x.jar", memory_mb=512) == 384


@LIMITED
@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_node_does_not_go_below_a_floor() -> None:
    """Node.js 20 says 259 MiB, and Node.js 26 says 262 MiB, under any limit below 512 MiB."""
    assert (bound("node", "x.js", memory_mb=64) or 0) > 200
    assert bound("node", "--max-old-space-size=50", "x.js", memory_mb=128) in range(50, 80)
    assert bound("node", "x.js", memory_mb=128, NODE_OPTIONS="--max-old-space-size=50") in range(50, 80)


def test_what_cannot_be_asked_is_not_guessed() -> None:
    assert bound("/opt/server", memory_mb=64) is None
    assert bound("/nowhere/node", "x.js", memory_mb=64) is None
