"""What a dependency does around the answers to single requests: a real service at a real SQLite file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from touchstone.contract.values import ValueSource
from touchstone.dependency.base import DependencyContext, WorkProgress
from touchstone.dependency.sqlite import SqliteFile
from touchstone.engine.ask import AskedService
from touchstone.isolation.port import free_port
from touchstone.manifest.exchange import Request, WeightedRequest
from touchstone.manifest.load import Load
from touchstone.record.sample import AfterAnswers
from touchstone.traffic.after_answers import AT_MOST_S, LATER_S, REQUESTS, look_after_answers

SERVICE = Path(__file__).parents[1] / "faults" / "service.py"
WORK = WeightedRequest(name="work", target="/work?value={fresh}-{counter}")
LOAD = Load(title="Work", connections=1, requests=[WORK])


@contextmanager
def serving(folder: Path, behaviour: str = "", column: str = "name TEXT") -> Iterator[tuple[AskedService, SqliteFile]]:
    database = SqliteFile(
        "database",
        "DATABASE_PATH",
        {"schema": f"CREATE TABLE items({column})", "journal_mode": "WAL"},
        DependencyContext(folder / "data", folder, (0,), Path("engine"), folder / "cache"),
    )
    database.start()
    database.reset({})
    (folder / "behaviour").write_text(behaviour)
    port = free_port()
    env = {**os.environ, **database.environment(), "HOST": "127.0.0.1", "PORT": str(port)}
    process = subprocess.Popen([sys.executable, str(SERVICE)], cwd=folder, env=env)
    service = AskedService.at("127.0.0.1", port)
    try:
        while service.exchange(Request(target="/ping"), ValueSource(1).next()).status != 200:
            assert process.poll() is None
        yield service, database
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    "behaviour,asked,late",
    [("", REQUESTS, False), ("answer_first = 1", REQUESTS, True), ("keep_in_memory = 1", 0, False)],
    ids=["waits for its work", "answers first", "does nothing"],
)
def test_work_is_seen_on_the_side_of_the_response_that_it_is_on(
    tmp_path: Path, behaviour: str, asked: int, late: bool
) -> None:
    with serving(tmp_path, behaviour) as (service, database):
        state = database.state({}, {}, [])
        look_after_answers(LOAD, service, {"database": database}, [state], seed=1, sent=0)
    seen = state.after_answers or AfterAnswers(asked=0)
    assert seen.asked == asked
    assert 2 * seen.late >= REQUESTS if late else seen.late <= 2
    assert seen.behind == 0


def test_keys_that_the_load_has_inserted_are_not_inserted_again(tmp_path: Path) -> None:
    keyed = WeightedRequest(name="work", target="/work?value={counter}")
    load = Load(title="Work", connections=1, requests=[keyed])
    with serving(tmp_path, column="name TEXT UNIQUE") as (service, database):
        values = ValueSource(1)
        sent = 40
        for _ in range(sent):
            assert service.exchange(keyed, values.next()).status == 200
        state = database.state({}, {}, [])
        look_after_answers(load, service, {"database": database}, [state], seed=1, sent=sent)
    assert (state.after_answers or AfterAnswers(asked=0)).asked == REQUESTS


def test_requests_of_a_kind_without_work_are_waited_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path, "keep_in_memory = 1") as (service, database):
        looks = 0
        reach = database.reach

        def counted() -> WorkProgress | None:
            nonlocal looks
            looks += 1
            return reach()

        monkeypatch.setattr(database, "reach", counted)
        look_after_answers(LOAD, service, {"database": database}, [database.state({}, {}, [])], seed=1, sent=0)
    once = 1 + AT_MOST_S / LATER_S
    assert looks <= once + 3 * 3
