"""Where a contender listens is filled in where its manifest says so."""

from __future__ import annotations

from pathlib import Path

from touchstone.bench.base import Built


def test_host_and_port_are_filled_into_command_and_environment() -> None:
    built = Built(Path(), (), ("php", "-S", "{host}:{port}"), {"URLS": "http://{host}:{port}", "JSON": '{"a": {}}'})
    there = built.at("127.0.0.1", 8080)
    assert there.argv == ("php", "-S", "127.0.0.1:8080")
    assert there.env == {"URLS": "http://127.0.0.1:8080", "JSON": '{"a": {}}'}
