"""`touchstone run --phase bounds`: what a server allows, by a service whose bounds are known."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.run.test_end_to_end import report_of

SCENARIO = """
schema = 1
name = "bounded"
title = "A service with bounds"
summary = "It answers hello"
ready = { target = "/", expect = { body = "hello" } }

[[contract]]
id = "hello"
says = "GET / answers hello"
steps = [{ target = "/", expect = { body = "hello" } }]

[loads.quick]
title = "Quick"
requests = [{ name = "quick", target = "/", expect = { body = "hello" } }]

[bounds]
request = { target = "/", expect = { body = "hello" } }
watch_s = 1
responses = 7
"""
STACK = """
schema = 1
name = "planted"
scenario = "bounded"
title = "Planted"
language = "Python"

[variants.bounded]
title = "five responses, 700 bytes, 0.3 s"
artifacts = ["service.py"]
run = ["{python}", "service.py", "5", "700", "0.3"]

[variants.boundless]
title = "none"
artifacts = ["service.py"]
run = ["{python}", "service.py", "1000000", "100000000", "1000"]
"""
SERVICE = """
import asyncio, os, signal, sys

most, largest, idle = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])


async def serve(reader, writer):
    for _ in range(most):
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\\r\\n\\r\\n"), idle)
        except (TimeoutError, ConnectionError, asyncio.IncompleteReadError):
            break
        if max(map(len, head.splitlines(keepends=True))) > largest:
            writer.write(b"HTTP/1.1 431 Too large\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")
            break
        writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nhello")
    writer.close()


async def main():
    await asyncio.start_server(serve, os.environ["HOST"], int(os.environ["PORT"]), limit=1 << 24)
    await asyncio.Event().wait()


signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("bounds")
    stack = folder / "bounded" / "planted"
    stack.mkdir(parents=True)
    (folder / "bounded" / "scenario.toml").write_text(SCENARIO)
    (stack / "stack.toml").write_text(STACK.replace("{python}", sys.executable))
    (stack / "service.py").write_text(SERVICE)
    code, found = report_of(folder, "./bounded", "--phase", "bounds")
    assert code == 0
    return found


def sample_of(report: dict[str, Any], variant: str) -> dict[str, Any]:
    """The sample of a planted service's bounds."""
    name = f"planted/{variant}"
    return next(s for s in report["run"]["samples"] if (s["phase"], s["contender"]) == ("bounds", name))


def test_bounds_are_found_where_they_are(report: dict[str, Any]) -> None:
    sample = sample_of(report, "bounded")
    assert sample["figures"]["bounds_responses"] == 5
    assert sample["figures"]["bounds_field"] == 700
    # `GET `, ` HTTP/1.1` and the end of the line are 15 of the 700.
    assert sample["figures"]["bounds_target"] == 685
    assert sample["figures"]["bounds_idle_s"] >= 0.25
    assert sample["evidence"]["result"]["field"]["status"] == 431


def test_what_has_no_bound_says_how_far_was_tried(report: dict[str, Any]) -> None:
    sample = sample_of(report, "boundless")
    assert not sample["figures"]
    assert sample["not_measured"]["bounds_idle_s"] == "the connection was still open after 1 s"
    assert sample["not_measured"]["bounds_responses"] == "the connection was still open after 7 responses"
    assert "up to 1,200,000" in sample["not_measured"]["bounds_field"]
