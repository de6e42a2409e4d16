"""A container that runs already, measured by its URL and its control group: a real one, by podman."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.run.demo import demo
from tests.run.images import build_image, image_sources, podman
from tests.run.test_end_to_end import report_of
from touchstone.isolation.port import free_port

LIMITS = ("--ulimit", "nofile=20000:20000", "--ulimit", "nproc=1000:1000")


@contextmanager
def container(folder: Path) -> Iterator[tuple[str, str]]:
    """A static server in an image FROM scratch; gives its URL and the path of its control group."""
    runtime = podman()
    image = build_image(runtime, image_sources(folder))
    port = free_port()
    where = ("-e", "HOST=127.0.0.1", "-e", f"PORT={port}")
    name = runtime.ask("run", "--detach", "--network=host", *LIMITS, *where, image)
    try:
        yield f"http://127.0.0.1:{port}", runtime.ask("inspect", "--format", "{{.State.CgroupPath}}", name)
    finally:
        runtime.ask("rm", "--force", "--time", "1", name)
        runtime.ask("rmi", "--force", image)


@pytest.mark.slow
def test_memory_and_cpu_of_a_container_are_read_from_its_group(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    with container(tmp_path / "image") as (url, group):
        words = ["--url", f"container={url}", "--cgroup", f"container={group}", "--stacks", "sound"]
        code, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "load", *words)
    assert code == 0
    figures = {(e["contender"], e["figure"]): e["median"] for e in report["judgement"]["estimates"]}
    assert figures["container", "rss_peak"] > 2**20
    assert figures["container", "cgroup_peak"] > 2**20
    assert figures["container", "cpu_per_request"] > 1e-6
    codes = {f["code"] for f in report["judgement"]["findings"] if f["contender"] == "container"}
    assert "wrong-process-watched" not in codes
