"""The files that a process has mapped as code or holds open, and their digests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from touchstone.bench.mapped import files_in_use

_LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); print(1, flush=True); sys.stdin.read()"


def _library(path: Path, value: int) -> Path:
    if shutil.which("cc") is None:
        pytest.skip("no cc")
    source = path.with_suffix(".c")
    source.write_text(f"int value(void) {{ return {value}; }}")
    made = path.with_suffix(".new")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", made, source], check=True)
    made.replace(path)
    return path


@contextmanager
def _loaded(library: Path) -> Iterator[psutil.Process]:
    """A process that has a library open."""
    words = [sys.executable, "-c", _LOAD, str(library)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == b"1\n"
        yield psutil.Process(process.pid)
        process.stdin.close()


def test_a_library_that_was_replaced_between_two_starts_has_another_digest(tmp_path: Path) -> None:
    library = tmp_path / "a library.so"
    seen = []
    for value in (1, 1, 2):
        with _loaded(_library(library, value)) as process:
            seen.append(files_in_use([process]))
    first, again, replaced = (found[str(library)] for found in seen)
    assert first == again != replaced and len(first) == 16
    others = [{path: digest for path, digest in found.items() if path != str(library)} for found in seen]
    assert others[0] == others[1] == others[2] and any("libc" in path for path in others[0])


def test_a_library_that_is_gone_and_a_process_that_has_ended_are_left_out(tmp_path: Path) -> None:
    library = _library(tmp_path / "gone.so", 1)
    with _loaded(library) as process:
        library.unlink()
        assert str(library) not in files_in_use([process])
    assert files_in_use([process]) == {}
    assert files_in_use([psutil.Process(os.getpid())])


_READ = """
import sys
held = [open(sys.argv[1], 'rb'), open(sys.argv[2], 'r+b'), open(sys.argv[3], 'ab'), open('/proc/self/stat')]
print(1, flush=True); sys.stdin.read()
"""


def test_a_file_that_is_open_for_reading_counts_and_one_that_is_written_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    read, written, log = (tmp_path / name for name in ("a jar.jar", "table", "log"))
    inside = folder / "inside"
    for file in (read, written, log, inside):
        file.write_text("before")
        os.utime(file, (1, 1))
    seen = []
    for content in ("before", "after"):
        read.write_text(content)
        os.utime(read, (1, 1))
        words = [sys.executable, "-c", _READ, str(read), str(written), str(log)]
        with (
            inside.open() as passed_on,
            subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=passed_on) as process,
        ):
            assert process.stdout is not None and process.stdin is not None
            assert process.stdout.readline() == b"1\n"
            seen.append(files_in_use([psutil.Process(process.pid)], apart=[folder]))
            process.stdin.close()
    assert seen[0][str(read)] != seen[1][str(read)]
    for found in seen:
        assert not {str(written), str(log), str(inside)} & found.keys()
        assert not any(path.startswith("/proc") for path in found)
