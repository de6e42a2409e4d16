"""Where a contender listens is filled in where its manifest says so."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from touchstone.bench.base import Built, Certificate, Ports
from touchstone.isolation.process import StartError


def test_host_and_port_are_filled_into_command_and_environment() -> None:
    built = Built(Path(), (), ("php", "-S", "{host}:{port}"), {"URLS": "http://{host}:{port}", "JSON": '{"a": {}}'})
    there = built.at("127.0.0.1", Ports(8080))
    assert there.argv == ("php", "-S", "127.0.0.1:8080")
    assert there.env == {"URLS": "http://127.0.0.1:8080", "JSON": '{"a": {}}'}


@pytest.mark.parametrize(
    ("named", "filled"),
    [
        ({"argv": ("serve", "--cert={tls.cert}")}, "--cert=/a/cert.pem"),
        ({"argv": ("serve", "{tls.key}")}, "/a/key.pem"),
        ({"env": {"CERT": "{tls.cert}"}}, "/a/cert.pem"),
        ({"env": {"KEY": "{tls.key}"}}, "/a/key.pem"),
    ],
)
def test_a_certificate_is_filled_in_where_there_is_one(named: dict[str, object], filled: str) -> None:
    built = dataclasses.replace(Built(Path(), (), ("serve",), {}), **named)  # type: ignore[arg-type]
    there = built.at("127.0.0.1", Ports(1), Certificate(Path("/a/cert.pem"), Path("/a/key.pem")))
    assert (*there.argv, *there.env.values())[-1] == filled
    with pytest.raises(StartError, match="calls it without TLS"):
        built.at("127.0.0.1", Ports(1))
