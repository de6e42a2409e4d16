"""Containers of ours, by podman and by docker: limits, watching, and that none is left."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.run.images import build_image, image_sources
from tests.run.images import runtime as runtime_called
from touchstone.isolation.container import (
    ContainerRuntime,
    ContainerSpec,
    create_container,
    remove_leftovers,
    start_container,
)
from touchstone.isolation.port import foreign_listener, free_port
from touchstone.isolation.process import StartError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["podman", "docker"])
def image(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[tuple[ContainerRuntime, str]]:
    runtime = runtime_called(request.param)
    built = build_image(runtime, image_sources(tmp_path_factory.mktemp("image") / "stack"))
    yield runtime, built
    runtime.ask("rmi", "--force", built)


def containers(runtime: ContainerRuntime) -> str:
    return runtime.ask("ps", "--all", "--quiet", "--filter", f"label=touchstone.lab={os.getpid()}")


def test_an_environment_arrives_as_it_is_and_stands_on_no_command_line(
    image: tuple[ContainerRuntime, str], tmp_path: Path
) -> None:
    runtime, built = image
    told, recording = tmp_path / "told", tmp_path / runtime.path.name
    recording.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {told}\nexec {runtime.path} "$@"\n')
    recording.chmod(0o755)
    env = {"HOST": "127.0.0.1", "PORT": str(free_port()), "DB_PASSWORD": "hunter2", "EMPTY": ""}
    env |= {"PLAIN": " a 'b' = #c ", "QUOTED": '"q"', "LINES": "one\ntwo"}
    process = start_container(ContainerRuntime(recording), ContainerSpec(built, env), log=tmp_path / "log")
    try:
        words = Path(f"/proc/{process.pid}/environ").read_bytes().decode().split("\0")
        assert {f"{name}={value}" for name, value in env.items()} <= set(words)
        assert "create\n" in told.read_text()
        assert "hunter2" not in told.read_text()
    finally:
        process.stop()


def test_a_container_keeps_its_limits_and_is_removed(image: tuple[ContainerRuntime, str], tmp_path: Path) -> None:
    runtime, built = image
    port, cpu = free_port(), max(os.sched_getaffinity(0))
    env = {"HOST": "127.0.0.1", "PORT": str(port)}
    spec = ContainerSpec(built, env, (tmp_path,), [cpu], memory_limit=64 << 20, cpu_limit=0.5, seccomp="unconfined")
    process = start_container(runtime, spec, log=tmp_path / "log")
    try:
        assert Path(f"/proc/{process.pid}/exe").readlink() == Path("/ping")
        assert os.sched_getaffinity(process.pid) == {cpu}
        assert "Seccomp:\t0\n" in Path(f"/proc/{process.pid}/status").read_text()
        assert process.cgroup is not None
        assert process.cgroup.memory_limit() == 64 << 20
        assert process.cgroup.pids() == [process.pid]
        assert [member.pid for member in process.tree()] == [process.pid]
        assert str(tmp_path) in Path(f"/proc/{process.pid}/mountinfo").read_text()
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/ping") as answer:
                    assert answer.read() == b"pong"
                    break
            except OSError:
                time.sleep(0.02)
        assert foreign_listener(port, [process.pid]) is None
        assert process.exited() is None
    finally:
        pid, said = process.pid, process.stop(5.0)
    assert "killed" not in said
    assert not psutil.pid_exists(pid)
    assert not containers(runtime)


def test_a_container_that_cannot_run_leaves_nothing(image: tuple[ContainerRuntime, str], tmp_path: Path) -> None:
    runtime, built = image
    with pytest.raises(StartError):
        start_container(runtime, ContainerSpec(built, {}, memory_limit=1), log=tmp_path / "log")
    with pytest.raises(StartError, match="no-such-image"):
        start_container(runtime, ContainerSpec("no-such-image", {}), log=tmp_path / "log")
    assert not containers(runtime)


DIES = """
import os, signal, sys
from pathlib import Path
from touchstone.isolation.container import ContainerRuntime, ContainerSpec, create_container
print(create_container(ContainerRuntime(Path(sys.argv[1])), ContainerSpec(sys.argv[2], {})), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_dead_lab_left_is_removed_and_nothing_else(image: tuple[ContainerRuntime, str]) -> None:
    runtime, built = image
    ours = create_container(runtime, ContainerSpec(built, {}))
    try:
        killed = [sys.executable, "-c", DIES, str(runtime.path), built]
        left = subprocess.run(killed, capture_output=True, text=True, check=False).stdout.strip()
        assert left
        assert remove_leftovers(runtime) == [left]
        assert ours.startswith(containers(runtime))
    finally:
        runtime.ask("rm", "--force", ours)
