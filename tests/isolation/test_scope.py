"""What the lab asks of a service manager, by a manager of our own that listens at its socket."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jeepney import Message, new_error, new_method_return
from jeepney.low_level import Parser

from touchstone.isolation import delegation, scope
from touchstone.isolation.limits import GroupLimit, OwnLimits
from touchstone.isolation.scope import ScopeError, ask_for_scope

Answer = Callable[[Message], Message | None]


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Answer], list[Message]]]:
    """Starts a manager that answers one call and lists its questions."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "private"))
    listener.listen()
    monkeypatch.setattr(scope, "_sockets", lambda: [(str(tmp_path / "private"), scope._Private)])
    monkeypatch.setattr(scope, "_WITHIN_S", 0.5)
    asked: list[Message] = []

    def serve(answer: Answer) -> None:
        with listener.accept()[0] as peer:
            begun = b""
            while b"BEGIN\r\n" not in begun:
                if b"AUTH" in (line := peer.recv(1024)):
                    peer.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n")
                begun += line
            parser = Parser()
            parser.add_data(begun.partition(b"BEGIN\r\n")[2])
            while (message := parser.get_next_message()) is None:
                parser.add_data(peer.recv(65536))
            asked.append(message)
            if (reply := answer(message)) is not None:
                peer.sendall(reply.serialise(serial=1))
            peer.recv(1)

    threads: list[threading.Thread] = []

    def start(answer: Answer) -> list[Message]:
        threads.append(threading.Thread(target=serve, args=(answer,), daemon=True))
        threads[0].start()
        return asked

    yield start
    for thread in threads:
        thread.join(5)
    listener.close()


def properties(message: Message) -> dict[str, Any]:
    name, mode, given, others = message.body
    assert (name, mode, others) == ("touchstone-7.scope", "fail", [])
    return {key: value for key, (_, value) in given}


def accepted(message: Message) -> Message:
    return new_method_return(message, "o", ("/org/freedesktop/systemd1/job/1",))


def test_the_scope_is_delegated_and_holds_the_processes(manager: Callable[[Answer], list[Message]]) -> None:
    asked = manager(accepted)
    ask_for_scope("touchstone-7.scope", [7, 8], OwnLimits())
    given = properties(asked[0])
    assert (given["PIDs"], given["Delegate"], given["CollectMode"]) == ([7, 8], True, "inactive-or-failed")
    assert not {"CPUQuotaPerSecUSec", "MemoryMax"} & given.keys()


def test_limits_are_taken_along(manager: Callable[[Answer], list[Message]]) -> None:
    asked = manager(accepted)
    left = Path("/sys/fs/cgroup/system.slice/ci.service")
    ask_for_scope(
        "touchstone-7.scope", [7], OwnLimits(GroupLimit(0.5, left), GroupLimit(1 << 30, left), GroupLimit(100, left))
    )
    given = properties(asked[0])
    assert (given["CPUQuotaPerSecUSec"], given["MemoryMax"], given["TasksMax"]) == (500_000, 1 << 30, 100)


def test_a_refusal_is_told_in_the_managers_words(manager: Callable[[Answer], list[Message]]) -> None:
    manager(lambda call: new_error(call, "org.freedesktop.systemd1.UnitExists", "s", ("it is loaded already",)))
    with pytest.raises(ScopeError, match="systemd's manager refuses: it is loaded already"):
        ask_for_scope("touchstone-7.scope", [7], OwnLimits())


def test_a_manager_that_is_silent_is_not_waited_for(manager: Callable[[Answer], list[Message]]) -> None:
    manager(lambda _call: None)
    with pytest.raises(ScopeError, match="systemd's manager does not answer"):
        ask_for_scope("touchstone-7.scope", [7], OwnLimits())


@pytest.mark.parametrize(("user", "line"), [(0, "`systemd-run --scope -p"), (1000, "`systemd-run --user --scope -p")])
def test_without_a_socket_the_command_is_named_that_makes_a_scope(
    monkeypatch: pytest.MonkeyPatch, user: int, line: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(scope, "_sockets", lambda: [])
    monkeypatch.setattr(sys, "argv", ["touchstone", "run", "users", "--cpus", "0.5"])
    with pytest.raises(delegation._NotOursError) as refused:
        delegation._enter_scope(OwnLimits())
    assert refused.value.refusal.why == "systemd's manager does not answer: it has no socket here"
    assert f"{line} Delegate=yes touchstone run users --cpus 0.5`" in refused.value.refusal.fix
