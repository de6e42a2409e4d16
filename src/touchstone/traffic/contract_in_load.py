"""The contract, made once more inside a load: on the load's own connections, between its requests.

A service that tells a check from a load, by the number of connections that are open or of requests that are in flight,
is seen here. Reading and writing checks are made, and dependencies are asked for their work while the load goes on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from touchstone.contract.checker import ContractChecker, askable
from touchstone.contract.within_load import checks_within_load
from touchstone.engine.ask import Response
from touchstone.engine.slices import SlicesSession, Turn, TurnRecord
from touchstone.manifest.contract import Check
from touchstone.record.sample import CheckOutcome
from touchstone.traffic.mixed_answers import KeyAtRest, answers_at_rest, keyed, mixed_answers, other_answers
from touchstone.traffic.sequence import LoadSequence

_TURN_S = 0.25
_TIMES = 3
"""How often each check is made: what depends on the moment shows in one of them."""
_MOST_S = 3.0
"""For all checks of a contender under one load."""
_REQUEST_S = 2.0


class _TooLateError(Exception):
    """The load, and not the service, decides how long a request waits for a connection."""


@dataclass
class _LoadConnection:
    """Sends orders of a contract's check between the requests of a load."""

    session: SlicesSession
    contender: int
    lanes: dict[str, int] = field(default_factory=dict)
    """The lane of each method and path: its requests share a connection, and those of others have another one. So a
    value that a service keeps for a connection is old as soon as a request of another connection has changed it."""
    asked: int = 0

    def __call__(self, order: Mapping[str, Any]) -> Any:
        wanted = order["asked"]["request"]
        place = f"{wanted['method']} {(wanted['target'] or '').partition('?')[0]}"
        lane = self.lanes.setdefault(place, len(self.lanes))
        answers = self.session.ask(self.contender, {**order, "lane": lane})
        self.asked += len(answers)
        if any((one["failure"] or "").startswith("no whole answer within") for one in answers):
            raise _TooLateError
        return answers


def check_contract_in_load(session: SlicesSession, contender: int, sequence: LoadSequence) -> list[TurnRecord]:
    """The turns in which the contract was made inside the load. Its outcomes are in the sequence's sample then.

    Each check is made some times, until it breaks. One for which no time is left is left out. Raises TouchstoneError.
    """
    load = sequence.load
    one_at_a_time = load.protocol == "h1" and load.pipeline == 1 and load.keepalive and not load.has_messages
    if not one_at_a_time or sequence.bench.generators.places:
        # The engine sends others' requests only between those of a connection that is kept and carries one at a time.
        return []
    known, _ = askable(sequence.bench.scenario.contract_over(load.protocol), sequence.running.dependencies)
    checks = checks_within_load(known)
    known_keys = answers_at_rest(sequence, keyed(load))
    if not checks and not known_keys:
        return []
    with _LoadedTurns(session, contender) as turns:
        way = _LoadConnection(session, contender)
        service = replace(sequence.running.service, timeout_s=_REQUEST_S, way=way)
        checker = ContractChecker(service, sequence.running.dependencies, sequence.bench.seed)
        _make(checker, checks, sequence)
        others: list[tuple[KeyAtRest, Response]] = []
        with suppress(_TooLateError):
            # Those that came before a response that was too late are kept.
            others.extend(other_answers(known_keys, service, sequence.bench.seed))
        sequence.sample.asked_in_load = way.asked
    sequence.sample.mixed_answers = mixed_answers(known_keys, others, sequence)
    return turns.records


def _make(checker: ContractChecker, checks: list[Check], sequence: LoadSequence) -> None:
    deadline = time.monotonic() + _MOST_S
    outcomes: dict[str, CheckOutcome] = {}
    sample = sequence.sample
    for _ in range(_TIMES):
        for check in checks:
            if check.id in outcomes and not outcomes[check.id].passed:
                continue
            if time.monotonic() > deadline:
                break
            try:
                outcomes[check.id] = _made(checker, check)
            except _TooLateError:
                continue
            sample.checks_in_load = list(outcomes.values())
    sample.left_out += [
        f"the check {check.id} was not made inside the load: its requests got no connection in time"
        for check in checks
        if check.id not in outcomes
    ]


def _made(checker: ContractChecker, check: Check) -> CheckOutcome:
    """A check's outcome. Made once more if a response did not come, which a busy machine may bring about."""
    outcome = checker.check(check)
    if outcome.passed or any(not one.received.startswith("no answer") for one in outcome.broken):
        return outcome
    return checker.check(check)


class _LoadedTurns:
    """A context in which a separate thread loads a contender turn after turn."""

    def __init__(self, session: SlicesSession, contender: int) -> None:
        self._session, self._contender = session, contender
        self._over = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._load, daemon=True)
        self.records: list[TurnRecord] = []

    def __enter__(self) -> _LoadedTurns:
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._over.set()
        self._thread.join()
        if self._error is not None and error is None:
            raise self._error

    def _load(self) -> None:
        try:
            while not self._over.is_set():
                self.records += self._session.turns("warmup", [Turn(self._contender, _TURN_S)])
        except BaseException as error:  # It is raised again where the turns are waited for.
            self._error = error
