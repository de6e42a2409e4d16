"""The files that a process has mapped as code, and their digests."""

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

from touchstone.bench.mapped import mapped_code

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
            seen.append(mapped_code([process]))
    first, again, replaced = (found[str(library)] for found in seen)
    assert first == again != replaced and len(first) == 16
    others = [{path: digest for path, digest in found.items() if path != str(library)} for found in seen]
    assert others[0] == others[1] == others[2] and any("libc" in path for path in others[0])


def test_a_library_that_is_gone_and_a_process_that_has_ended_are_left_out(tmp_path: Path) -> None:
    library = _library(tmp_path / "gone.so", 1)
    with _loaded(library) as process:
        library.unlink()
        assert str(library) not in mapped_code([process])
    assert mapped_code([process]) == {}
    assert mapped_code([psutil.Process(os.getpid())])
