"""A container that runs already, measured by its URL and its control group: a real one, by podman."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.run.demo import demo
from tests.run.test_end_to_end import report_of
from touchstone.isolation.port import free_port

SERVER = """
package main

import (
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("GET /ping", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Write([]byte("pong"))
	})
	http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil)
}
"""
LIMITS = ("--ulimit", "nofile=20000:20000", "--ulimit", "nproc=1000:1000")


def podman(*words: str) -> str:
    """Asked in the way that works without systemd, too."""
    runtime = ["--runtime", "runc"] if shutil.which("runc") else []
    command = ["podman", "--cgroup-manager=cgroupfs", *runtime, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@contextmanager
def container(folder: Path) -> Iterator[tuple[str, str]]:
    """A static server in an image FROM scratch; gives its URL and the path of its control group."""
    folder.mkdir()
    (folder / "main.go").write_text(SERVER)
    (folder / "go.mod").write_text("module ping\n\ngo 1.22\n")
    (folder / "Dockerfile").write_text('FROM scratch\nCOPY ping /ping\nENTRYPOINT ["/ping"]\n')
    subprocess.run(["go", "build", "-o", "ping", "."], cwd=folder, env=_static(folder), check=True)
    image = podman("build", "--quiet", "--isolation=chroot", str(folder))
    port = free_port()
    where = ("-e", "HOST=127.0.0.1", "-e", f"PORT={port}")
    name = podman("run", "--detach", "--network=host", *LIMITS, *where, image)
    try:
        yield f"http://127.0.0.1:{port}", podman("inspect", "--format", "{{.State.CgroupPath}}", name)
    finally:
        podman("rm", "--force", "--time", "1", name)
        podman("rmi", "--force", image)


def _static(folder: Path) -> dict[str, str]:

    return os.environ | {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOCACHE": str(folder / "cache")}


@pytest.mark.slow
def test_memory_and_cpu_of_a_container_are_read_from_its_group(tmp_path: Path) -> None:
    for program in ("podman", "go"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
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
