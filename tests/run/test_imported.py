"""Entries of other benchmarks, imported as they are, run by podman on the port that they insist on."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.intake.entries import http_arena_entry, techempower_entry
from tests.run.images import podman, remove_built
from tests.run.test_end_to_end import report_of, touchstone
from touchstone.isolation.port import free_port, listeners

SERVER = """
package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
)

var port string

func number(text string) int {
	found, _ := strconv.Atoi(text)
	return found
}

func answer(w http.ResponseWriter, kind, body string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Server", "entry")
	io.WriteString(w, body)
}

func main() {
	http.HandleFunc("/baseline11", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		query := r.URL.Query()
		answer(w, "text/plain", fmt.Sprint(number(query.Get("a"))+number(query.Get("b"))+number(string(body))))
	})
	http.HandleFunc("GET /pipeline", func(w http.ResponseWriter, r *http.Request) { answer(w, "text/plain", "ok") })
	http.HandleFunc("GET /json", func(w http.ResponseWriter, r *http.Request) {
		answer(w, "application/json", `{"message":"Hello, World!"}`)
	})
	http.ListenAndServe(":"+port, nil)
}
"""

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _runtime(tmp_path: Path) -> Iterator[None]:
    runtime = podman()
    yield
    remove_built(runtime, tmp_path / "cache")


def with_server(entry: Path, port: int) -> Path:
    """Put a static program next to an entry's Dockerfile that always listens on this port."""
    (entry / "main.go").write_text(SERVER)
    (entry / "go.mod").write_text("module entry\n\ngo 1.22\n")
    static = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOCACHE": str(entry.parent / "go-cache")}
    build = ["go", "build", "-ldflags", f"-X main.port={port}", "-o", "server", "."]
    subprocess.run(build, cwd=entry, env=os.environ | static, check=True)
    return entry


def test_an_entry_of_httparena_is_measured_on_its_port_and_no_other(tmp_path: Path) -> None:
    if listeners(8080):
        pytest.skip("entries of HttpArena listen on port 8080, which is taken here")
    with_server(http_arena_entry(tmp_path / "entry", ["baseline", "pipelined", "json"]), 8080)
    done = touchstone(tmp_path, "import", "httparena", "entry", "--out", "arena")
    assert "left out: the profile json" in done.stdout
    assert touchstone(tmp_path, "check", "arena").returncode == 0
    phases = [word for name in ("boot", "load") for word in ("--phase", name)]
    _, report = report_of(tmp_path, "arena", "--rounds", "1", "--load", "pipelined", *phases)
    samples = {sample["phase"]: sample for sample in report["run"]["samples"] if sample["contender"] == "entry/image"}
    assert len(samples["verify"]["checks"]) == 6  # five of the contract, and what the load asks
    assert all(check["passed"] for check in samples["verify"]["checks"])
    assert samples["load"]["evidence"]["slices"]
    assert not samples["load"]["failure"]
    assert samples["load"]["process"]["env"]["PORT"] == "8080"
    assert samples["load"]["figures"]["throughput"] > 0
    assert samples["boot"]["figures"]["boot_first_response"] > 0
    with socket.create_server(("127.0.0.1", 8080)):
        _, report = report_of(tmp_path, "arena", "--phase", "verify")
    (verified,) = (sample for sample in report["run"]["samples"] if sample["phase"] == "verify")
    assert f"process {os.getpid()} " in verified["failure"]["what"]
    assert "8080" in verified["failure"]["what"]


def test_implementations_that_share_a_port_are_loaded_in_whole_windows(tmp_path: Path) -> None:
    port = free_port()
    one = {"json_url": "/json", "port": port}
    with_server(techempower_entry(tmp_path / "entry", {"default": one, "again": one}), port)
    touchstone(tmp_path, "import", "techempower", "entry", "--out", "te")
    _, report = report_of(tmp_path, "te", "--rounds", "1", "--phase", "load")
    (note,) = [note for note in report["run"]["notes"] if "whole windows" in note]
    assert f"port {port}" in note
    loaded = {sample["contender"]: sample for sample in report["run"]["samples"] if sample["phase"] == "load"}
    for contender in ("entry/default", "entry/again"):
        assert not loaded[contender]["failure"]
        assert not loaded[contender]["evidence"]["slices"]
        assert loaded[contender]["figures"]["throughput"] > 0
