"""`touchstone` as a process of its own, without the second that Python takes to load it.

A server with the lab loaded forks a process for each command. Arguments, folder, environment, output and exit code are
those of a command that a shell starts. What Python itself reads at its start (`PYTHON*`, the encoding) is the server's:
tests about that, about signals and about imports start `COMMAND`.
"""

from __future__ import annotations

import array
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import psutil

COMMAND = [sys.executable, "-c", "from touchstone.cli.main import main; main()"]


def touchstone(
    *words: str, cwd: Path, env: dict[str, str] | None = None, within_s: float = 300
) -> subprocess.CompletedProcess[str]:
    """Run `touchstone WORDS` in a folder, `env` added to the environment of the tests."""
    whole = os.environ | (env or {})
    lines = [str(cwd), str(len(words)), *words, *(f"{name}={value}" for name, value in whole.items())]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error, socket.socket(socket.AF_UNIX) as line:
        line.connect(_server()[0])
        message = "\0".join(lines).encode(errors="surrogateescape")
        line.sendmsg(
            [len(message).to_bytes(8, "big")],
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [out.fileno(), error.fileno()]))],
        )
        line.sendall(message)
        pid = _number(line)
        line.settimeout(within_s)
        try:
            code = _number(line)
            late = False
        except TimeoutError:
            with contextlib.suppress(psutil.NoSuchProcess):
                psutil.Process(pid).kill()
            late = True
        texts = []
        for stream in (out, error):
            stream.seek(0)
            texts.append(stream.read().decode())
    if late:
        raise subprocess.TimeoutExpired([*COMMAND, *words], within_s, *texts)
    return subprocess.CompletedProcess([*COMMAND, *words], code, *texts)


def _number(line: socket.socket) -> int:
    """A number that the server reports. Raises ConnectionError if the server has ended."""
    if not (octets := line.recv(8)):
        raise ConnectionError("the server of tests/command.py has ended; its error is in the output of the tests")
    return int.from_bytes(octets, "big", signed=True)


@cache
def _server() -> tuple[str, subprocess.Popen[bytes]]:
    """The address of this worker's server, and its process, which ends with the worker."""
    address = f"\0touchstone-tests-{os.getpid()}"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    here = str(Path(__file__).resolve().parents[1])
    code = (
        f"import sys; sys.path.insert(0, {here!r}); from tests.command_server import serve; serve({listener.fileno()})"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, pass_fds=[listener.fileno()])
    listener.close()
    return address, process
