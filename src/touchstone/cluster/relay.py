"""Joins the leading engine, which speaks to a Unix socket, with processes behind a node's agent."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

import ray
import ray.exceptions

from touchstone.cluster.nodes import ClusterNode, first_line

_WAIT_S = 1.0
SILENCE_S = 10.0
"""A node that says nothing for so long is lost. Ray itself takes half a minute to say so."""

_numbers = itertools.count()


@contextmanager
def relays(
    places: Sequence[tuple[ClusterNode, Any]], kind: Literal["load", "hold"], folder: Path
) -> Iterator[list[Path]]:
    """A socket in `folder` for each node and its agent: each connection to it is a process for this kind of job."""
    with ExitStack() as stack:
        yield [stack.enter_context(_relay(node, agent, kind, folder)) for node, agent in places]


@contextmanager
def _relay(node: ClusterNode, agent: Any, kind: str, folder: Path) -> Iterator[Path]:
    path = folder / f"{next(_numbers)}.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        serving: list[threading.Thread] = []
        accepting = threading.Thread(target=_accept, args=(listener, node, agent, kind, serving), daemon=True)
        accepting.start()
        try:
            yield path
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            # Who asks Ray anything after this machine has left the cluster ends the whole process.
            accepting.join()
            for thread in serving:
                thread.join(_WAIT_S + 2 * SILENCE_S)


def _accept(listener: socket.socket, node: ClusterNode, agent: Any, kind: str, serving: list[threading.Thread]) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            serving.append(threading.Thread(target=_serve, args=(connection, node, agent, kind), daemon=True))
            serving[-1].start()


def _serve(connection: socket.socket, node: ClusterNode, agent: Any, kind: str) -> None:
    """Pass one process's output to the engine until it ends or the node is lost."""
    name = f"worker-{next(_numbers)}"
    passing = threading.Thread(target=_pass_orders, args=(connection, agent, name), daemon=True)
    with connection:
        try:
            ray.get(agent.start.remote(name, kind), timeout=SILENCE_S)
            passing.start()
            while True:
                output, ended = ray.get(agent.listen.remote(name, _WAIT_S), timeout=_WAIT_S + SILENCE_S)
                connection.sendall(output.encode())
                if ended is not None:
                    _fail(connection, ended)
                    return
        except ray.exceptions.GetTimeoutError:
            _fail(connection, f"node {node} is lost: it has given no sign of life for {SILENCE_S:g} s")
        except ray.exceptions.RayError as error:
            _fail(connection, f"node {node} is lost: {first_line(error)}")
        except OSError:
            pass  # The engine has ended, and needs it no more.
        finally:
            agent.end.remote(name)
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RD)
            if passing.is_alive():
                passing.join(SILENCE_S)


def _pass_orders(connection: socket.socket, agent: Any, name: str) -> None:
    with (
        contextlib.suppress(OSError, ValueError, ray.exceptions.RayError),
        connection.makefile("r", encoding="utf-8") as orders,
    ):
        for line in orders:
            # One after the other: calls that are in flight together may overtake each other.
            ray.get(agent.tell.remote(name, line), timeout=SILENCE_S)
        agent.close.remote(name)


def _fail(connection: socket.socket, why: str) -> None:
    """Say it in the engine's own words; after a report it is not heard any more."""
    with contextlib.suppress(OSError):
        connection.sendall((json.dumps({"Failed": why}) + "\n").encode())
