"""The logs of a process tree differ from its other files in how they were opened."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import psutil
import pytest

from touchstone.isolation.log_files import grown, log_files


@pytest.fixture
def me() -> list[psutil.Process]:
    return [psutil.Process()]


def test_what_is_appended_to_a_log_is_counted_from_one_look_to_the_next(
    tmp_path: Path, me: list[psutil.Process]
) -> None:
    place = tmp_path / "access.log"
    place.write_text("of yesterday\n")
    with place.open("a", buffering=1) as log:
        before = log_files(me, tmp_path / "none")
        log.write("GET /work 200\n")
        assert grown(before, log_files(me, tmp_path / "none"), tmp_path / "work") == 14
    assert grown(before, log_files(me, tmp_path / "none"), tmp_path / "work") == 0  # it is closed


def test_a_log_that_the_first_request_opens_counts_where_the_folder_was_empty(
    tmp_path: Path, me: list[psutil.Process]
) -> None:
    before = log_files(me, tmp_path / "none")
    with (tmp_path / "access.log").open("a", buffering=1) as log:
        log.write("GET /work 200\n")
        after = log_files(me, tmp_path / "none")
    assert grown(before, after, tmp_path) == 14
    assert grown(before, after, tmp_path / "work") == 0


def test_standard_output_is_no_log_of_its_own(tmp_path: Path, me: list[psutil.Process]) -> None:
    output = tmp_path / "output"
    with output.open("ab"):
        known = output.stat()
        assert (known.st_dev, known.st_ino) not in log_files(me, output)


def test_databases_stores_and_uploads_are_no_logs(tmp_path: Path, me: list[psutil.Process]) -> None:
    database = sqlite3.connect(tmp_path / "items.db")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE items(id)")
    store = os.open(tmp_path / "segment", os.O_WRONLY | os.O_CREAT)
    with (tmp_path / "upload").open("wb"):
        found = log_files(me, tmp_path / "none")
        for file in tmp_path.iterdir():
            assert (file.stat().st_dev, file.stat().st_ino) not in found
    os.close(store)
    database.close()
