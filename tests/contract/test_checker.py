"""The checker against a real server: what breaks is found, shown, and counted."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast
from urllib.parse import parse_qs, urlsplit

import pytest

from touchstone.contract.checker import ContractChecker, light_checks
from touchstone.contract.proof import Tally, prove
from touchstone.dependency.base import Dependency, DependencyContext, UnknownActError
from touchstone.dependency.sqlite import SqliteFile
from touchstone.engine.ask import AskedService, RequestValues
from touchstone.judge.language.sentences import how_broken
from touchstone.manifest.contract import Check, Proof


class Registry(BaseHTTPRequestHandler):
    """A small service that loses every tenth insert on request."""

    names: set[str]
    lock: threading.Lock
    lose: bool
    database: Path

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        name = parse_qs(url.query).get("name", [""])[0]
        with self.lock:
            taken = name in self.names
            self.names.add(name)
            if not taken and not (self.lose and len(self.names) % 10 == 0):
                with sqlite3.connect(self.database, timeout=10) as database:
                    database.execute("INSERT INTO users(name) VALUES (?)", (name,))
        body = f"{'no' if taken else 'welcome'} {name}".encode()
        self.send_response(500 if taken else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def database(tmp_path: Path) -> SqliteFile:
    context = DependencyContext(tmp_path / "db", tmp_path, (), Path("/nonexistent"), tmp_path)
    dependency = SqliteFile(
        "db", "DATABASE_PATH", {"schema": "CREATE TABLE users(name TEXT)", "journal_mode": "WAL"}, context
    )
    dependency.start()
    assert dependency.reset({}) == []
    return dependency


@pytest.fixture
def service(database: SqliteFile) -> Iterator[tuple[AskedService, type[Registry]]]:
    path = Path(database.environment()["DATABASE_PATH"])
    handler = type("Handler", (Registry,), {"names": set(), "lock": threading.Lock(), "lose": False, "database": path})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield AskedService.at("127.0.0.1", server.server_address[1]), handler
    server.shutdown()
    thread.join()
    server.server_close()


CHECK = Check.model_validate(
    {
        "id": "insert",
        "says": "fifty names are stored",
        "steps": [
            {
                "target": "/add?name={fresh}-{counter}",
                "repeat": 50,
                "concurrent": 10,
                "expect": {"body": "welcome {fresh}-{counter}"},
            }
        ],
        "proofs": [{"says": "rows", "dependency": "db", "query": "SELECT count(*) FROM users", "equals": "ok"}],
    }
)


def test_a_sound_service_passes(service: tuple[AskedService, type[Registry]], database: SqliteFile) -> None:
    outcome = ContractChecker(service[0], {"db": database}).check(CHECK)
    assert outcome.passed, outcome.broken


def test_lost_inserts_are_found_by_the_proof(
    service: tuple[AskedService, type[Registry]], database: SqliteFile
) -> None:
    service[1].lose = True
    outcome = ContractChecker(service[0], {"db": database}).check(CHECK)
    assert not outcome.passed
    assert outcome.broken[0].expected == "50"
    assert outcome.broken[0].received == "45"


def test_a_tally_counts_answers_by_status(service: tuple[AskedService, type[Registry]], database: SqliteFile) -> None:
    same = {"target": "/add?name=one", "repeat": 20, "concurrent": 5, "expect": {"status": [200, 500]}}
    right = Check.model_validate({"id": "a", "says": "one wins", "steps": [{**same, "tally": {"200": 1, "500": 19}}]})
    wrong = Check.model_validate({"id": "b", "says": "two win", "steps": [{**same, "tally": {"200": 2, "500": 18}}]})
    checker = ContractChecker(service[0], {"db": database})
    assert checker.check(right).passed
    assert not checker.check(wrong).passed


def test_a_dead_service_breaks_the_check_and_does_not_raise(database: SqliteFile) -> None:
    outcome = ContractChecker(AskedService.at("127.0.0.1", 1, timeout_s=1), {"db": database}).check(CHECK)
    assert not outcome.passed
    assert "no answer" in outcome.broken[0].received


def test_a_service_that_echoes_a_secret_is_quoted_without_it(
    service: tuple[AskedService, type[Registry]], database: SqliteFile
) -> None:
    fields = {"Authorization": "Bearer hunter2-4711"}
    step = {"target": "/add?name=hunter2-4711", "headers": fields, "expect": {"body": "no"}}
    check = Check.model_validate({"id": "echo", "says": "names are kept", "steps": [step]})
    (broken,) = ContractChecker(service[0], {"db": database}).check(check).broken
    assert "'welcome (hidden)'" in broken.received


def test_only_light_checks_are_repeated_after_a_load() -> None:
    light = Check.model_validate({"id": "a", "says": "a", "steps": [{"target": "/"}]})
    acting = Check.model_validate({"id": "b", "says": "b", "steps": [{"dependency": "db", "act": "stop"}]})
    changing = Check.model_validate({"id": "c", "says": "c", "steps": [{"dependency": "db", "act": "execute"}]})
    assert [check.id for check in light_checks([light, acting, changing, CHECK])] == ["a"]
    assert [check.id for check in light_checks([light, acting, changing, CHECK], last=True)] == ["a", "c"]


def test_an_act_takes_the_same_fresh_text_as_the_requests(
    service: tuple[AskedService, type[Registry]], database: SqliteFile
) -> None:
    taken_out = {"dependency": "db", "act": "execute", "with": {"sql": "DELETE FROM users WHERE name = 'a-{fresh}'"}}
    rows = {"says": "one of two is left", "dependency": "db", "query": "SELECT name = 'b-{fresh}' FROM users"}
    check = Check.model_validate(
        {
            "id": "taken-out",
            "says": "the right row is taken out",
            "steps": [{"target": "/?name=a-{fresh}"}, {"target": "/?name=b-{fresh}"}, taken_out],
            "proofs": [rows | {"equals": 1}],
        }
    )
    outcome = ContractChecker(service[0], {"db": database}).check(check)
    assert outcome.passed, outcome.broken


def test_a_proof_allows_for_requests_of_unknown_fate(database: SqliteFile) -> None:
    proof = Proof(says="rows", dependency="db", query="SELECT 12", equals="ok")
    values = RequestValues(1, "f", 0)
    assert prove(proof, {"db": database}, Tally(sent=15, ok=10, uncertain=2), values).passed
    assert not prove(proof, {"db": database}, Tally(sent=15, ok=10, uncertain=1), values).passed
    assert not prove(proof, {"db": database}, Tally(sent=15, ok=13, uncertain=2), values).passed
    assert prove(proof, {"db": database}, Tally(sent=15, ok=10, beyond=2), values).passed
    assert not prove(proof, {"db": database}, Tally(sent=15, ok=10, beyond=1), values).passed


def test_leftovers_of_an_earlier_run_are_said(database: SqliteFile) -> None:
    stray = database.context.folder / "db-99.db"
    stray.write_bytes(b"")
    assert database.reset({}) == ["file db-99.db was there before the first start"]
    assert not stray.exists()


def test_an_act_that_a_dependency_does_not_know_is_refused(database: SqliteFile) -> None:
    with pytest.raises(UnknownActError, match="cannot 'stop'"):
        database.act("stop", {})


def test_steps_that_need_a_value_that_was_not_captured_are_skipped_and_what_was_answered_is_shown(
    service: tuple[AskedService, type[Registry]], database: SqliteFile
) -> None:
    create = {"target": "/?name={fresh}", "captures": {"id": {"json": "/id"}}}
    remove = {"dependency": "db", "act": "execute", "with": {"sql": "DELETE FROM users WHERE name = '{capture.id}'"}}
    row = {"says": "it is there", "dependency": "db", "query": "SELECT '{capture.id}'", "equals": 1}
    check = Check.model_validate(
        {"id": "life", "says": "a life", "steps": [create, {"target": "/{capture.id}"}, remove], "proofs": [row]}
    )
    outcome = ContractChecker(service[0], {"db": database}).check(check)
    assert not outcome.passed
    made, read, removed = outcome.broken
    assert "not JSON" in made.received and "welcome" in made.received
    assert read.request == "GET /{capture.id}"
    assert "skipped: it needs {capture.id}" in read.received
    assert "skipped" in removed.received


def test_a_capture_that_fails_later_leaves_no_earlier_value(
    service: tuple[AskedService, type[Registry]], database: SqliteFile
) -> None:
    first = {"target": "/?name=a-{fresh}", "captures": {"id": {"pattern": "welcome (.*)"}}}
    second = {"target": "/?name=b-{fresh}", "captures": {"id": {"pattern": "no (.*)"}}}
    steps = [first, second, {"target": "/?name={capture.id}"}]
    outcome = ContractChecker(service[0], {"db": database}).check(
        Check.model_validate({"id": "again", "says": "again", "steps": steps})
    )
    assert [("skipped" in one.received) for one in outcome.broken] == [False, True]


BOUNDED = Check.model_validate(
    {
        "id": "pool",
        "says": "few connections",
        "steps": [{"target": "/add?name={fresh}", "expect": {"body": "welcome {fresh}"}}],
        "proofs": [{"says": "few", "dependency": "db", "query": "connections:opened <= 8", "equals": "yes"}],
    }
)


class Downstream:
    """A dependency that answers in turn as is listed, and with the last of it from then on."""

    def __init__(self, *answers: str) -> None:
        self.answers = [*answers]

    def ask(self, query: str) -> str:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def test_a_bound_that_a_busy_machine_breaks_once_is_tried_again(service: tuple[AskedService, type[Registry]]) -> None:
    checker = ContractChecker(service[0], cast(Mapping[str, Dependency], {"db": Downstream("9", "yes")}))
    (outcome,) = checker.run([BOUNDED])
    assert outcome.passed and outcome.tries == 2


def test_a_bound_that_breaks_each_time_is_broken_and_says_what_else_ran(
    service: tuple[AskedService, type[Registry]],
) -> None:
    checker = ContractChecker(service[0], cast(Mapping[str, Dependency], {"db": Downstream("9", "12", "11")}))
    (outcome,) = checker.run([BOUNDED])
    assert not outcome.passed and outcome.tries == 3 and outcome.broken[0].received == "9"
    assert "3 tries; meanwhile" in how_broken(outcome)


def test_what_no_machine_moves_is_not_tried_again(service: tuple[AskedService, type[Registry]]) -> None:
    steps = [{"target": "/add?name={fresh}", "expect": {"body": "bye"}}]
    wrong = Check.model_validate(BOUNDED.model_dump(by_alias=True) | {"steps": steps})
    (outcome,) = ContractChecker(service[0], cast(Mapping[str, Dependency], {"db": Downstream("9")})).run([wrong])
    assert not outcome.passed and outcome.tries == 1
