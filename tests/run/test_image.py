"""An image as a contender next to a process: measured as one, and ended whatever happens."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import COMMAND
from tests.run.demo import demo
from tests.run.images import build_image, image_sources, path_without_podman, remove_built, runtime
from tests.run.test_end_to_end import environment, report_of
from touchstone.isolation.container import ContainerRuntime

STACK = """
schema = 1
name = "image"
scenario = "demo"
title = "A server in an image"
language = "Go"
sources = ["Dockerfile", "ping"]

[variants.plain]
title = "image"
image = { dockerfile = "Dockerfile" }
"""

pytestmark = pytest.mark.slow


@pytest.fixture(params=["podman", "docker"])
def runs_it(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ContainerRuntime]:
    """Each of the two, as the one that the lab finds."""
    found = runtime(request.param)
    if not found.is_podman:
        monkeypatch.setenv("PATH", path_without_podman(tmp_path / "bin"))
    yield found
    remove_built(found, tmp_path / "cache")


@pytest.fixture
def folder(runs_it: ContainerRuntime, tmp_path: Path) -> Path:
    """A scenario with a process and an image; what runs the image is there."""
    made = demo(tmp_path / "demo")
    (image_sources(made / "image") / "stack.toml").write_text(STACK)
    return made


def test_an_image_is_measured_next_to_a_process(runs_it: ContainerRuntime, folder: Path, tmp_path: Path) -> None:
    phases = [word for name in ("build", "verify", "boot", "load", "footprint") for word in ("--phase", name)]
    _, report = report_of(tmp_path, str(folder), "--rounds", "1", *phases)
    figures = {(e["contender"], e["figure"]): e["median"] for e in report["judgement"]["estimates"]}
    for contender in ("image/plain", "sound/plain"):
        assert figures[contender, "throughput"] > 0
        assert figures[contender, "boot_first_response"] > 0
        assert 2**20 < figures[contender, "rss_peak"] < 2**27
        assert figures[contender, "cpu_per_request"] > 1e-6
    assert 0 < figures["image/plain", "boot_runtime"] < figures["image/plain", "boot_first_response"]
    assert ("sound/plain", "boot_runtime") not in figures
    # The container's memory alone: podman's client has several times as much.
    assert 2**20 < figures["image/plain", "boot_rss"] < 20 * 2**20
    size = (folder / "image" / "ping").stat().st_size
    assert size <= figures["image/plain", "footprint_bytes"] < size + 2**16
    if runs_it.is_podman:
        assert 0 < figures["image/plain", "footprint_image"] < size
    codes = {f["code"] for f in report["judgement"]["findings"] if f["contender"] == "image/plain"}
    assert not codes & {"wrong-process-watched", "phase-failed", "foreign-listener", "left-its-confinement"}
    loaded = next(s for s in report["run"]["samples"] if s["phase"] == "load" and s["contender"] == "image/plain")
    assert loaded["evidence"]["slices"]
    assert loaded["process"]["placement"]["cgroup"]


def test_an_image_by_its_reference_is_run_as_it_is(runs_it: ContainerRuntime, folder: Path, tmp_path: Path) -> None:
    built = build_image(runs_it, folder / "image")
    try:
        by_dockerfile = 'image = { dockerfile = "Dockerfile" }'
        (folder / "image" / "stack.toml").write_text(STACK.replace(by_dockerfile, f'image = "{built}"'))
        words = ("--rounds", "1", "--phase", "build", "--phase", "verify", "--stacks", "image")
        _, report = report_of(tmp_path, str(folder), *words)
        samples = {sample["phase"]: sample for sample in report["run"]["samples"]}
        assert samples["verify"]["process"]["artifacts"] == {"image": built}
        assert all(check["passed"] for check in samples["verify"]["checks"])
        assert samples["build"]["figures"]["artifact_bytes"] > 2**20
        assert samples["build"]["not_measured"]["build_cold"] == "there is nothing to build"
    finally:
        runs_it.ask("rmi", "--force", built)


def test_an_interruption_ends_the_container(runs_it: ContainerRuntime, folder: Path, tmp_path: Path) -> None:
    command = [*COMMAND, "run", str(folder), "--quick", "--rounds", "1", "--phase", "load", "--stacks", "image"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    mine = ("ps", "--all", "--quiet", "--filter", f"label=touchstone.lab={process.pid}")
    deadline = time.monotonic() + 120
    while not runs_it.ask(*mine) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert runs_it.ask(*mine)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert not runs_it.ask(*mine)


def test_clean_removes_the_image_with_its_build(runs_it: ContainerRuntime, folder: Path, tmp_path: Path) -> None:
    env = environment(tmp_path)
    run = [*COMMAND, "run", str(folder), "--quick", "--rounds", "1", "--phase", "build", "--stacks", "image"]
    subprocess.run(run, cwd=tmp_path, env=env, check=True, capture_output=True)
    (build,) = (tmp_path / "cache" / "builds").iterdir()
    assert runs_it.image_id(f"touchstone/{build.name}") is not None
    subprocess.run([*COMMAND, "clean", "--cache-above", "0", "--yes"], cwd=tmp_path, env=env, check=True)
    assert not build.exists()
    assert runs_it.image_id(f"touchstone/{build.name}") is None
