"""The contract inside a load: what becomes of answers that are right, late or wrong, and which loads have no room."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.phase.test_peak import bench_of
from touchstone.bench.base import MeasurementOptions, blank_sample
from touchstone.bench.generators import Generators
from touchstone.bench.running_contender import RunningContender
from touchstone.engine.ask import AskedService
from touchstone.engine.slices import SlicesSession
from touchstone.manifest.contract import Check, Send
from touchstone.manifest.exchange import LoadRequest
from touchstone.traffic import contract_in_load
from touchstone.traffic.contract_in_load import check_contract_in_load
from touchstone.traffic.mixed_answers import KeyAtRest
from touchstone.traffic.sequence import LoadSequence

CONTRACT = [
    Check(id="one", says="one", steps=[Send(target="/one"), Send(target="/one?again=yes")]),
    Check(id="two", says="two", steps=[Send(target="/two")]),
]
RIGHT: dict[str, Any] = {
    "status": 200,
    "fields": [],
    "body": "",
    "body_bytes": 0,
    "failure": None,
    "mismatch": False,
    "faults": [],
    "captured": {},
    "address": None,
    "reused": True,
    "repeated": False,
    "took_s": 0.001,
}
LATE = RIGHT | {"status": None, "failure": "no whole answer within 2 s", "faults": ["no whole answer within 2 s"]}
WRONG = RIGHT | {"status": 500, "faults": ["status 500, expected 200"]}


@dataclass
class Session:
    """In place of the engine's: every request whose target begins with `/one` is answered by `answer`."""

    answer: Mapping[str, Any] = field(default_factory=lambda: RIGHT)
    asked: list[tuple[str, int]] = field(default_factory=list)
    """Target and lane of each request."""
    loaded: int = 0

    def turns(self, phase: str, turns: list[Any]) -> list[Any]:
        """Load for a moment."""
        assert phase == "warmup"
        assert [turn.contender for turn in turns] == [4]
        self.loaded += 1
        time.sleep(0.01)
        return [f"turn {self.loaded}"]

    def ask(self, contender: int, order: Mapping[str, Any]) -> list[Any]:
        """Answer a request."""
        assert contender == 4
        target = order["asked"]["request"]["target"]
        self.asked.append((target, order["lane"]))
        return [dict(self.answer if target.startswith("/one") else RIGHT)]


def checked(folder: Path, session: Session, **changed: Any) -> tuple[LoadSequence, list[Any]]:
    """The sequence of a load that was checked in this session, and its turns."""
    bench = bench_of(folder)
    bench = replace(bench, scenario=bench.scenario.model_copy(update={"contract": CONTRACT}))
    if places := changed.pop("places", None):
        bench = replace(bench, options=MeasurementOptions(generators=cast(Generators, SimpleNamespace(places=places))))
    load = next(iter(bench.scenario.loads.values())).model_copy(update=changed)
    running = cast(RunningContender, SimpleNamespace(service=AskedService("http://127.0.0.1:1"), dependencies={}))
    sequence = LoadSequence(bench, running, load, blank_sample(bench, "load", "slow/plain"))
    return sequence, check_contract_in_load(cast(SlicesSession, session), 4, sequence)


def test_right_answers_are_asked_for_three_times_between_the_turns(tmp_path: Path) -> None:
    session = Session()
    sequence, turns = checked(tmp_path, session)
    assert [(one.id, one.passed) for one in sequence.sample.checks_in_load] == [("one", True), ("two", True)]
    assert sequence.sample.left_out == []
    # Requests of one method and path have one lane, whatever their query.
    assert session.asked == [("/one", 0), ("/one?again=yes", 0), ("/two", 1)] * 3
    assert sequence.sample.asked_in_load == 9
    assert turns == [f"turn {number + 1}" for number in range(session.loaded)]
    assert turns


def test_a_check_whose_answers_come_late_is_left_out_and_does_not_break(tmp_path: Path) -> None:
    sequence, _ = checked(tmp_path, Session(LATE))
    assert [(one.id, one.passed) for one in sequence.sample.checks_in_load] == [("two", True)]
    assert sequence.sample.left_out == [
        "the check one was not made inside the load: its requests got no connection in time"
    ]


def test_a_check_that_breaks_is_made_no_more(tmp_path: Path) -> None:
    session = Session(WRONG)
    sequence, _ = checked(tmp_path, session)
    one, two = sequence.sample.checks_in_load
    assert (one.passed, two.passed) == (False, True)
    assert any("status 500" in broken.received or "status 500" in str(broken) for broken in one.broken)
    assert [target for target, _ in session.asked].count("/one") == 1
    assert [target for target, _ in session.asked].count("/two") == 3


@pytest.mark.parametrize(
    "changed",
    [
        {"protocol": "h2c"},
        {"protocol": "h2", "tls": True},
        {"pipeline": 2},
        {"keepalive": False},
        {"places": ["there"]},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_load_between_whose_requests_no_others_fit_is_left_alone(tmp_path: Path, changed: dict[str, Any]) -> None:
    session = Session()
    sequence, turns = checked(tmp_path, session, **changed)
    assert (turns, session.loaded, session.asked) == ([], 0, [])
    assert sequence.sample.checks_in_load == []


class Busy(Session):
    """Answers the first request of a key, and each later one too late."""

    def ask(self, contender: int, order: Mapping[str, Any]) -> list[Any]:
        found = super().ask(contender, order)
        keys = [target for target, _ in self.asked if target.startswith("/key")]
        return [dict(LATE)] if len(keys) > 1 else found


def test_a_response_that_differs_is_kept_when_a_later_one_is_too_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Any] = []

    def keep(_: Any, others: list[Any], __: Any) -> list[Any]:
        kept.extend(others)
        return []

    one = KeyAtRest(LoadRequest(target="/key?n={counter}"), "7", b"its own")
    monkeypatch.setattr(contract_in_load, "answers_at_rest", lambda *_: [one])
    monkeypatch.setattr(contract_in_load, "mixed_answers", keep)
    checked(tmp_path, Busy())
    assert [key for key, _ in kept] == [one]
