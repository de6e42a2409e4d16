"""Images for tests: a static server FROM scratch, so that no registry is needed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from touchstone.isolation.container import ContainerRuntime, remove_image

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


def podman() -> ContainerRuntime:
    """What runs them usually; skips the test where it, or what builds their server, is absent."""
    return runtime("podman")


def runtime(name: str) -> ContainerRuntime:
    """`podman`, or `docker` if its daemon runs; skips the test where it, or what builds their server, is absent."""
    for program in (name, "go"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
    if name == "docker" and subprocess.run(["docker", "info"], capture_output=True, check=False).returncode != 0:
        pytest.skip("needs docker's daemon: its client alone runs nothing")
    return ContainerRuntime(Path(shutil.which(name) or ""))


def remove_built(runtime: ContainerRuntime, cache: Path) -> None:
    """Remove the images that runs with this cache have built."""
    for build in (cache / "builds").glob("*"):
        remove_image(runtime, f"touchstone/{build.name}")


def path_without_podman(folder: Path) -> str:
    """A PATH on which docker is what the lab finds: podman is there, and does not work."""
    folder.mkdir()
    broken = folder / "podman"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def image_sources(folder: Path) -> Path:
    """A Dockerfile with all that it needs, in a new folder."""
    folder.mkdir(parents=True)
    (folder / "main.go").write_text(SERVER)
    (folder / "go.mod").write_text("module ping\n\ngo 1.22\n")
    (folder / "Dockerfile").write_text('FROM scratch\nCOPY ping /ping\nENTRYPOINT ["/ping"]\n')
    static = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOCACHE": str(folder.parent / "go-cache")}
    subprocess.run(["go", "build", "-o", "ping", "."], cwd=folder, env=os.environ | static, check=True)
    return folder


def build_image(runtime: ContainerRuntime, folder: Path) -> str:
    """The image's id."""
    words = ["--isolation=chroot"] if runtime.is_podman else []
    return runtime.ask("build", "--quiet", *words, str(folder)).splitlines()[-1]
