"""The beginning and the end of a long log are kept, with the size of the cut."""

from __future__ import annotations

from pathlib import Path

from touchstone.isolation.long_log import shorten


def test_a_log_up_to_the_bound_is_kept_as_it_is(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * 100)
    shorten(log, most=100)
    assert log.read_bytes() == b"x" * 100


def test_beyond_the_bound_the_middle_is_left_out_and_its_size_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"first" + b"x" * 91 + b"last!")
    shorten(log, most=100)
    kept = log.read_bytes()
    assert kept.startswith(b"first" + b"x" * 45 + b"\n[touchstone left out 1 of 101 bytes here]\n")
    assert kept.endswith(b"]\n" + b"x" * 45 + b"last!")


def test_a_log_that_was_never_written_is_no_failure(tmp_path: Path) -> None:
    shorten(tmp_path / "log")
    assert not (tmp_path / "log").exists()
