"""The footprint phase with a real server in C: its figures hold only where the server runs on nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.phase.oci import image
from tests.run.demo import demo
from tests.run.test_end_to_end import report_of
from touchstone.phase.footprint.empty_root import mount_prefix
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

CRANE = find_tool("crane")
pytestmark = pytest.mark.skipif(mount_prefix() is None, reason="this user may not mount")

_SERVER = r"""
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void leave(int ignored) { _exit(0); }

int main(void) {
    signal(SIGTERM, leave);
    signal(SIGPIPE, SIG_IGN);
    if (getenv("NEEDS") && access(getenv("NEEDS"), R_OK) != 0) { perror(getenv("NEEDS")); return 3; }
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(getenv("PORT")))};
    inet_pton(AF_INET, getenv("HOST"), &at.sin_addr);
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 64)) return 4;
    for (;;) {
        char request[4096] = {0};
        int client = accept(listener, 0, 0);
        if (read(client, request, sizeof request - 1) > 0) {
            int found = strncmp(request, "GET /ping ", 10) == 0;
            dprintf(client, "HTTP/1.1 %s\r\nContent-Type: text/plain\r\n"
                    "Connection: close\r\nContent-Length: 4\r\n\r\n%s",
                    found ? "200 OK" : "404 Not Found", found ? "pong" : "none");
        }
        close(client);
    }
}
"""

_STACK = """
schema = 1
name = "{name}"
scenario = "demo"
title = "{name}"
language = "C"
[needs]
cc = ">=9"
[variants.plain]
title = "cc"
build = [["cc", "-o", "server", "server.c"]]
artifacts = ["server"]
footprint = {footprint}
run = ["./server"]
env = {{ NEEDS = "{needs}" }}
"""


def add(folder: Path, name: str, footprint: str) -> None:
    home = folder / name
    home.mkdir()
    (home / "server.c").write_text(_SERVER)
    (home / "stack.toml").write_text(_STACK.format(name=name, footprint=footprint, needs="/etc/os-release"))


def sample_of(report: dict[str, Any], contender: str) -> dict[str, Any]:
    samples: list[dict[str, Any]] = report["run"]["samples"]
    return next(s for s in samples if s["phase"] == "footprint" and s["contender"] == contender)


def test_only_a_root_in_which_the_contract_holds_has_a_footprint(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    add(folder, "whole", '["/etc/os-release"]')
    add(folder, "lacking", "[]")
    _, report = report_of(tmp_path, str(folder), "--phase", "footprint", "--stacks", "whole,lacking", "--rounds", "1")
    whole, lacking = sample_of(report, "whole/plain"), sample_of(report, "lacking/plain")
    assert whole["failure"] is None, whole["failure"]
    kinds = whole["evidence"]["bytes_by_kind"]
    assert kinds.keys() == {"artifacts", "further files", "libraries"}
    assert whole["figures"]["footprint_bytes"] == sum(kinds.values()) > 10**6
    assert 0 < whole["figures"]["footprint_compressed"] < whole["figures"]["footprint_bytes"]
    assert "before it was ready" in lacking["failure"]["what"]
    assert "footprint_bytes" not in lacking["figures"]


@pytest.mark.skipif(not isinstance(CRANE, FoundTool), reason=str(CRANE))
def test_the_image_holds_the_root_in_which_the_contract_held(tmp_path: Path) -> None:
    assert isinstance(CRANE, FoundTool)
    (tmp_path / "cache/crane").mkdir(parents=True)
    (tmp_path / "cache/crane/crane").symlink_to(CRANE.path)
    folder = demo(tmp_path / "demo")
    add(folder, "whole", '["/etc/os-release"]')
    _, report = report_of(tmp_path, str(folder), "--phase", "footprint", "--stacks", "whole", "--rounds", "1")
    sample = sample_of(report, "whole/plain")
    assert sample["failure"] is None, sample["failure"]
    (results,) = (tmp_path / "results").iterdir()
    digest, config, _, contents = image(results / sample["files"]["oci_layout"])
    assert digest == sample["evidence"]["oci"]["digest"]
    assert {path: len(data) for path, data in contents.items()} == sample["evidence"]["files"]
    started = config["config"]
    (program,) = started["Entrypoint"]
    assert program in contents
    environment = dict(word.split("=", 1) for word in started["Env"])
    assert environment.items() >= {"HOST": "0.0.0.0", "PORT": "8080", "NEEDS": "/etc/os-release"}.items()
    assert started["ExposedPorts"] == {"8080/tcp": {}}
    assert 0 < sample["figures"]["footprint_image"] < sample["figures"]["footprint_bytes"]


@pytest.mark.skipif(shutil.which("crane") is not None, reason="crane is on the PATH")
def test_without_crane_it_is_said_that_no_image_was_written(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    add(folder, "whole", '["/etc/os-release"]')
    _, report = report_of(tmp_path, str(folder), "--phase", "footprint", "--stacks", "whole", "--rounds", "1")
    sample = sample_of(report, "whole/plain")
    assert sample["not_measured"]["footprint_image"].startswith("not written: needs crane; run `touchstone toolchain")
    assert sample["figures"]["footprint_bytes"] > 0
