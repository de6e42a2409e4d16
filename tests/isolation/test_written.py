"""What a process writes to files, pipes and mappings is counted by kind."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from touchstone.isolation.written import written_so_far

_LINES = b"GET /work 200\n" * 8_000
"""Some 110 KB."""

_LOGS = """
import mmap, os, subprocess, sys
kind, place = sys.argv[1:]
line = sys.stdin.readline
if kind == "pipe":
    reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=open(os.devnull, "w"))
elif kind == "fifo":
    writer = open(place, "wb", buffering=0)
elif kind == "mapped":
    file = open(place, "w+b")
    file.truncate(1 << 20)
    area = mmap.mmap(file.fileno(), 1 << 20)
elif kind == "pool":
    reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print("ready", flush=True)
line()
text = b"GET /work 200\\n" * 8000
if kind == "pipe":
    reader.stdin.write(text)
    reader.stdin.flush()
elif kind == "fifo":
    writer.write(text)
elif kind == "mapped":
    area[: len(text)] = text
elif kind == "pool":
    for start in range(0, len(text), 4096):
        reader.stdin.write(text[start : start + 4096])
        reader.stdin.flush()
        os.read(reader.stdout.fileno(), 4096)
print("done", flush=True)
line()
"""


@contextmanager
def service(kind: str, place: Path) -> Iterator[psutil.Popen]:
    with psutil.Popen(
        [sys.executable, "-c", _LOGS, kind, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            for child in process.children():
                child.kill()
            process.kill()


def added(kind: str, place: Path) -> dict[str, int]:
    """What is counted while a service writes its lines."""
    with service(kind, place) as process:
        assert process.stdout.readline() == "ready\n"
        before = written_so_far([psutil.Process(process.pid), *process.children()])
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"
        return written_so_far([psutil.Process(process.pid), *process.children()]).since(before)


def test_a_pipe_to_a_child_that_only_reads(tmp_path: Path) -> None:
    found = added("pipe", tmp_path)
    assert found["piped"] >= len(_LINES) - 65_536  # the rest waits in the pipe
    assert found["calls"] >= len(_LINES)


def test_a_named_pipe_that_a_program_of_another_tree_reads(tmp_path: Path) -> None:
    place = tmp_path / "log"
    os.mkfifo(place)
    with subprocess.Popen(["cat", str(place)], stdout=subprocess.DEVNULL) as reader:
        assert added("fifo", place)["piped"] >= len(_LINES) - 65_536
        reader.wait()


def test_a_child_that_answers_back_is_no_log(tmp_path: Path) -> None:
    assert added("pool", tmp_path).keys() <= {"mapped"}


def test_pages_of_a_mapped_file(tmp_path: Path) -> None:
    assert added("mapped", tmp_path / "log")["mapped"] >= len(_LINES) // mmap.PAGESIZE * mmap.PAGESIZE


def test_nothing_is_written(tmp_path: Path) -> None:
    assert added("none", tmp_path).get("calls", 0) < 1024
