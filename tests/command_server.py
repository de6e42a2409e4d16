"""The server of `tests/command.py`: forks a process for each command that it is asked for."""

from __future__ import annotations

import atexit
import gc
import os
import pkgutil
import selectors
import signal
import socket
import sys
from importlib import import_module
from typing import NoReturn

import touchstone
from touchstone.record.run import Environment, Plan
from touchstone.record.sample import Sample

_APART = ("cluster", "shipped", "starter", "native_image")
"""Rooms that are data, or need what is not installed."""


def serve(listening: int) -> None:
    """Answer on a listening socket until standard input ends, as it does with the tests' process."""
    _load()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # A Ctrl-C is for the tests, which then end.
    listener = socket.socket(fileno=listening)
    with selectors.DefaultSelector() as ready:
        ready.register(listener, selectors.EVENT_READ)
        ready.register(0, selectors.EVENT_READ)
        while not any(key.fileobj == 0 for key, _ in ready.select()):
            line, _ = listener.accept()
            if os.fork() == 0:
                ready.close()
                listener.close()
                _attend(line)
            line.close()
            _reap()


def _load() -> None:
    """Load the lab, so that no command has to."""
    for module in pkgutil.walk_packages(touchstone.__path__, "touchstone."):
        if module.name.split(".")[1] not in _APART and not module.name.endswith("__main__"):
            import_module(module.name)
    for document in (Plan, Environment, Sample):
        document.model_rebuild()
    gc.freeze()


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _attend(line: socket.socket) -> NoReturn:
    """Start the command that is asked for, and report its process and its exit code."""
    head, streams, _, _ = socket.recv_fds(line, 8, 2)
    message = b""
    while len(message) < int.from_bytes(head, "big"):
        message += line.recv(1 << 20)
    cwd, count, *rest = message.decode(errors="surrogateescape").split("\0")
    pid = os.fork()
    if pid == 0:
        line.close()
        _command(cwd, rest[: int(count)], dict(pair.split("=", 1) for pair in rest[int(count) :]), streams)
    try:
        line.sendall(pid.to_bytes(8, "big"))
        _, status = os.waitpid(pid, 0)
        line.sendall(os.waitstatus_to_exitcode(status).to_bytes(8, "big", signed=True))
    except OSError:
        pass  # Nobody waits any more.
    os._exit(0)


def _command(cwd: str, words: list[str], env: dict[str, str], streams: list[int]) -> NoReturn:
    """Be the command."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        null = os.open(os.devnull, os.O_RDONLY)
        for number, stream in enumerate((null, *streams)):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        sys.argv = ["touchstone", *words]
        from touchstone.cli.main import main  # noqa: PLC0415

        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
