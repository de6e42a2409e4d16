"""No Python exception reaches a user: each becomes a message in plain English and an exit code."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_commands import stored
from tests.command import COMMAND
from tests.judge.sound import sound_run

PLANTED = """
import json, sys, threading
from touchstone.audit import read
def planted(text):
    {planted}
read.cleaned = planted
from touchstone.cli.main import main
main()
"""
"""Reading a file to audit meets an error that nothing foresees."""


def run(folder: Path, command: list[str], **settings: object) -> subprocess.CompletedProcess[str]:
    places = {"TOUCHSTONE_CACHE": str(folder / "cache"), "TMPDIR": str(folder)}
    env = os.environ | {"NO_COLOR": "1", "COLUMNS": "200"} | places | settings.pop("env", {})  # type: ignore[operator]
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | settings
    return subprocess.run(command, cwd=folder, env=env, text=True, errors="replace", timeout=120, check=False, **given)  # type: ignore


def planted(folder: Path, what: str, *words: str, **settings: object) -> subprocess.CompletedProcess[str]:
    (folder / "result.json").write_text("{}")
    code = PLANTED.format(planted=what)
    return run(folder, [sys.executable, "-c", code, "audit", "result.json", *words], **settings)


@pytest.mark.parametrize(
    "what",
    [
        'raise KeyError("id")',
        "raise RecursionError",
        "raise EOFError",  # typer takes it for Ctrl-D
        'raise BrokenPipeError(32, "Broken pipe")',  # of a pipe that is not our output
        'raise ConnectionResetError(104, "Connection reset by peer")',
        'raise ExceptionGroup("several", [ValueError("a"), KeyError("b")])',
        "assert False",
    ],
)
def test_a_defect_is_named_with_the_file_in_hand_and_its_details_are_kept(tmp_path: Path, what: str) -> None:
    done = planted(tmp_path, what, "--entry", "password=hunter2secret")
    assert done.returncode == 1
    assert "a defect in touchstone stopped `touchstone audit result.json" in done.stderr
    assert "worked on result.json" in done.stderr
    assert "report it to the maintainers" in done.stderr
    assert "Traceback" not in done.stderr
    (kept,) = (tmp_path / "cache" / "crashes").iterdir()
    assert str(kept) in done.stderr
    details = kept.read_text()
    assert "Traceback" in details and what in PLANTED.format(planted=what)
    assert "touchstone audit result.json" in details
    assert "hunter2secret" not in details + done.stderr


def test_details_go_elsewhere_where_the_cache_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    done = planted(tmp_path, "1 / 0")
    (kept,) = tmp_path.glob("touchstone-*.txt")
    assert done.returncode == 1 and str(kept) in done.stderr
    nowhere = {"TOUCHSTONE_CACHE": "/proc/none", "TMPDIR": "/proc/none"}
    full = planted(tmp_path, "1 / 0", env=nowhere, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert full.returncode == 1
    assert "ZeroDivisionError" in full.stderr  # Better in the way than lost.


def test_an_error_in_a_thread_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "wrk.txt").touch()
    what = "threading.Thread(target=lambda: 1 / 0).start(); return json.dumps([dict(framework='a', rps=1)])"
    done = planted(tmp_path, what)
    assert done.returncode == 1
    assert "HttpArena: 1 result" in done.stdout
    assert "a defect in touchstone" in done.stderr and "Traceback" not in done.stderr


def test_ctrl_c_is_130(tmp_path: Path) -> None:
    done = planted(tmp_path, "raise KeyboardInterrupt")
    assert (done.returncode, done.stderr) == (130, "touchstone: interrupted\n")
    assert not (tmp_path / "cache").exists()


def test_memory_that_is_used_up_is_no_defect(tmp_path: Path) -> None:
    done = planted(tmp_path, "raise MemoryError")
    assert done.returncode == 1 and "there was not enough memory" in done.stderr


@pytest.mark.parametrize(
    ("number", "cause"),
    [("ENOSPC", "the disk is full"), ("EACCES", "permission denied"), ("EMFILE", "too many open files"),
     ("ENFILE", "too many open files"), ("EROFS", "read-only"), ("EDQUOT", "quota"), ("EIO", "reports an error"),
     ("EAGAIN", "another process or thread"), ("ENOMEM", "out of memory")],
)  # fmt: skip
@pytest.mark.parametrize("named", ["", ", '/srv/some file'"])
def test_what_the_system_refuses_is_named_by_file_and_cause(
    tmp_path: Path, number: str, cause: str, named: str
) -> None:
    done = planted(tmp_path, f"import errno, os; raise OSError(errno.{number}, os.strerror(errno.{number}){named})")
    assert done.returncode == 1
    assert cause in done.stderr and "\n  do: " in done.stderr
    assert ("/srv/some file: " if named else "result.json: ") in done.stderr
    assert "defect" not in done.stderr


def test_a_file_that_may_not_grow_is_named(tmp_path: Path) -> None:
    stored(sound_run(), tmp_path / "results" / "20260101-000000-one")
    limit = resource.RLIMIT_FSIZE, (1000, 1000)
    done = run(tmp_path, [*COMMAND, "report", "last"], preexec_fn=lambda: resource.setrlimit(*limit))
    assert done.returncode == 1
    assert "20260101-000000-one/report.html: " in done.stderr and "too large" in done.stderr


@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["--help"], ["--version"]])
def test_output_that_cannot_be_written_is_named(tmp_path: Path, words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = run(tmp_path, [*COMMAND, *words], stdout=full)
        assert done.returncode == 1
        assert done.stderr.startswith("touchstone: standard output: the disk is full\n  do: ")
        assert run(tmp_path, [*COMMAND, *words], stdout=full, stderr=full).returncode == 1


@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["--version"]])
def test_a_reader_that_has_ended_is_no_error(tmp_path: Path, words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(tmp_path, [*COMMAND, *words], stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_working_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    line = f'cd gone; rmdir ../gone; "{sys.executable}" -c "from touchstone.cli.main import main; main()" list'
    done = run(tmp_path, ["bash", "-c", line])
    assert done.returncode == 1
    assert "touchstone: the working folder: there is no such file or folder" in done.stderr


@pytest.mark.parametrize("env", [{"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}])
def test_a_terminal_without_a_sign_stops_no_command(tmp_path: Path, env: dict[str, str]) -> None:
    stored(sound_run(), tmp_path / "results" / "20260101-000000-one")
    done = run(tmp_path, [*COMMAND, "show", "last"], env=env)
    assert done.returncode == 0, done.stderr
