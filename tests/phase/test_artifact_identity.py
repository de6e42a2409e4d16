"""Which program is run, and what lies next to it: on real files."""

from __future__ import annotations

import hashlib
import os
from io import BufferedReader
from pathlib import Path

import pytest

from touchstone.bench.artifact_identity import clear_work, digests, prebuilt
from touchstone.bench.base import Built
from touchstone.record.evidence.surroundings import LeftInWork

PROGRAM = b"\x7fELF" + bytes(100)


def built(work: Path) -> Built:
    (work / "server").write_bytes(PROGRAM)
    (work / "config").write_text("a")
    return Built(work, (work / "server",), ("./server",), {})


def test_a_changed_file_has_another_digest_even_with_its_old_time(tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.write_bytes(PROGRAM)
    first, status = digests([program]), program.stat()
    program.write_bytes(PROGRAM[:-1] + b"x")
    os.utime(program, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert digests([program]) != first


def test_a_file_is_read_once_whichever_path_leads_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    whole = hashlib.file_digest

    def counted(stream: BufferedReader, name: str) -> object:
        read.append(stream.name)
        return whole(stream, name)

    monkeypatch.setattr(hashlib, "file_digest", counted)
    program = tmp_path / "server"
    program.write_bytes(PROGRAM)
    seen = Path(f"/proc/{os.getpid()}/root{program}")
    assert digests([program]) == digests([seen]) and len(read) == 1
    program.write_bytes(PROGRAM + b"x")
    assert digests([program]) == digests([seen]) and len(read) == 2


def test_new_files_are_removed_and_changed_ones_told(tmp_path: Path) -> None:
    program = built(tmp_path)
    assert clear_work(program) == LeftInWork()
    (tmp_path / "memo").write_text("what I learnt")
    (tmp_path / "config").write_text("ab")
    (tmp_path / "server").write_bytes(PROGRAM + b"x")
    assert clear_work(program) == LeftInWork(removed=["memo"], changed=["config"])
    assert not (tmp_path / "memo").exists()
    assert (tmp_path / "config").read_text() == "ab"
    assert (tmp_path / "server").exists()


def test_a_root_of_its_own_is_not_looked_at(tmp_path: Path) -> None:
    assert clear_work(Built(Path("/"), (tmp_path / "server",), ("server",), {})) == LeftInWork()


def test_a_compiled_file_of_the_sources_is_prebuilt_and_a_script_is_not(tmp_path: Path) -> None:
    for folder in ("source", "work"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "server").write_bytes(PROGRAM)
        (tmp_path / folder / "main.py").write_text("print()")
    (tmp_path / "work" / "other").write_bytes(PROGRAM[:-1] + b"x")
    artifacts = sorted((tmp_path / "work").iterdir())
    assert prebuilt(artifacts, (tmp_path / "source").iterdir()) == ["server"]
