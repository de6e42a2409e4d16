"""Which process serves a URL: the one that listens, or none if that is unsure."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from touchstone.cli.services import read_services

LISTENER = """
import os, socket, sys
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
forked = os.fork() if sys.argv[2] == "fork" else 1
if forked:
    print(*(one.getsockname()[1] for one in held), flush=True)
sys.stdin.read()
"""


@contextmanager
def listening(ports: int = 1, *, fork: bool = False, program: str = sys.executable) -> Iterator[tuple[int, list[str]]]:
    """A process that listens; gives its id and its addresses."""
    words = [program, "-c", LISTENER, str(ports), "fork" if fork else "alone"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.pid, [f"http://127.0.0.1:{port}" for port in process.stdout.readline().split()]
    finally:
        process.communicate("")


def pids(*urls: str, given: tuple[str, ...] = ()) -> list[int | None]:
    named = [f"service{number}={url}" for number, url in enumerate(urls)]
    return [service.pid for service in read_services(named, given, (), ())]


def test_the_process_that_listens_is_the_service_and_so_is_its_tree() -> None:
    with listening() as (one, (url,)), listening(fork=True) as (other, (forked,)):
        assert pids(url, forked) == [one, other]
        assert pids(url.replace("127.0.0.1", "localhost")) == [one]


def test_another_process_with_the_same_port_on_another_address_is_not_the_service() -> None:
    with listening() as (one, (url,)):
        port = int(url.rsplit(":", 1)[1])
        with socket.create_server(("::1", port), family=socket.AF_INET6):
            assert pids(url) == [one]
            assert pids(f"http://[::1]:{port}") == [os.getpid()]


def test_a_process_that_is_named_is_taken() -> None:
    with listening() as (one, (url,)), listening() as (other, _):
        assert pids(url, given=(f"service0={other}",)) == [other]
        assert pids(url) == [one]


def test_two_services_in_one_process_are_told_apart_by_nobody() -> None:
    with listening(ports=2) as (_, urls):
        assert pids(*urls) == [None, None]


def test_what_passes_connections_on_is_not_the_service(tmp_path: Path) -> None:
    proxy = tmp_path / "socat"
    proxy.symlink_to(sys.executable)
    with listening(program=str(proxy)) as (_, (url,)):
        assert pids(url) == [None]


def test_another_machine_and_a_port_without_a_listener_have_no_process() -> None:
    services = read_services(["far=http://192.0.2.1:80", "none=http://127.0.0.1:1"], (), (), ("192.0.2.1",))
    assert [service.pid for service in services] == [None, None]
