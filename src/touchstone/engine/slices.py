"""A slices job of the engine: several contenders loaded in turn, by orders that touchstone gives while it runs."""

from __future__ import annotations

import itertools
import queue
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Self, cast

from pydantic import Field, JsonValue

from touchstone.engine.client import EngineError, EngineProcess, Event, engine_refusal, read_as
from touchstone.engine.protocol import Send, SlicesJob, TurnOrder
from touchstone.record.base import Record
from touchstone.record.engine import LoadResult
from touchstone.record.evidence.slices import Slice

_PATIENCE_S = 60.0
"""Beyond the time that an order's turns take: responses in flight, settling, a machine that stands still."""


class TurnRecord(Slice):
    """A finished turn as the engine reports it: a slice, and its contender."""

    contender: int


class SlicesResult(Record):
    """What the engine says at the end: a load result for each contender, in the job's order."""

    schema_: str = Field(default="touchstone.slices/2", alias="schema")
    engine: dict[str, str] = {}
    origin_unix_s: float = 0.0
    interrupted: bool = False
    contenders: list[LoadResult]
    slices: list[JsonValue] = []
    """Reported as events while they were measured; read from there."""


@dataclass(frozen=True)
class Turn:
    """One slice to come: whose, and how long, in seconds."""

    contender: int
    seconds: float


class SlicesSession:
    """A context: the engine connects on entry; `turns` carries out an order; `finish` ends the job."""

    def __init__(self, job: SlicesJob, timeout_s: float, on_event: Callable[[Event], None]) -> None:
        self._timeout_s = timeout_s
        self._on_event = on_event
        self._events: queue.Queue[Event | None] = queue.Queue()
        self._engine = EngineProcess("slices", job, self._hear, on_end=self._ended, takes_orders=True)
        self._numbers = itertools.count(1)
        self._asked: dict[int, Future[Any]] = {}
        self.fatal: dict[int, str] = {}
        """Contenders that have not one connection, and why."""
        self._sent: Counter[int] = Counter()

    def __enter__(self) -> Self:
        self._engine.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.__exit__(kind, error, trace)

    @property
    def unreached(self) -> dict[int, str]:
        """Contenders to which not one request was sent, and why."""
        return {index: why for index, why in self.fatal.items() if not self._sent[index]}

    def turns(self, phase: Literal["warmup", "load"], turns: Sequence[Turn]) -> list[TurnRecord]:
        """Carry out turns one after the other; their records, in order. Raises EngineError."""
        orders: list[TurnOrder] = [{"contender": turn.contender, "seconds": turn.seconds} for turn in turns]
        self._engine.tell({"order": "slices", "phase": phase, "turns": orders})
        patience = sum(turn.seconds for turn in turns) + len(turns) * (self._timeout_s + 1.0) + _PATIENCE_S
        records: list[TurnRecord] = []
        while True:
            event = self._next(patience)
            match event.get("event"):
                case "slice":
                    records.append(record := read_as(TurnRecord, event, "a slice", extra="ignore"))
                    self._sent[record.contender] += record.sent
                    self._on_event(event)
                case "fatal":
                    self.fatal[int(event["contender"])] = str(event["why"])
                case "done":
                    return records

    def ask(self, contender: int, order: Mapping[str, Any]) -> Any:
        """Carry out an `ask` order between the requests of a contender's load, in its turns.

        The turns are another thread's. Raises EngineError.
        """
        patience = order.get("repeat", 1) * (order["timeout_s"] + order.get("within_s", 0.0)) + _PATIENCE_S
        number = next(self._numbers)
        future = self._asked[number] = Future()
        send = {key: value for key, value in order.items() if key != "order"}
        self._engine.tell({"order": "ask", "contender": contender, "send": cast(Send, {"id": number, **send})})
        try:
            kind, outcome = future.result(patience)
        except TimeoutError as error:
            self._asked.pop(number, None)
            raise EngineError(
                f"the engine has not answered a request inside a load for {patience:.0f} s",
                fix="run `touchstone doctor`",
            ) from error
        if kind == "error":
            raise engine_refusal(str(outcome))
        return outcome

    def _hear(self, event: Event) -> None:
        if event.get("event") != "answered":
            self._events.put(event)
            return
        answer = event["answer"]
        if future := self._asked.pop(answer.pop("id"), None):
            future.set_result(next(iter(answer.items())))

    def _ended(self) -> None:
        self._events.put(None)
        for future in self._asked.values():
            future.set_result(("error", "the engine ended before it had answered"))

    def finish(self, after_s: float) -> SlicesResult:
        """End the job and read its result; memory is watched for `after_s` before. Raises EngineError."""
        self._engine.tell({"order": "end"})
        document = self._engine.result(after_s + self._timeout_s + _PATIENCE_S)
        return read_as(SlicesResult, document, "the engine's slices result")

    def _next(self, patience_s: float) -> Event:
        try:
            event = self._events.get(timeout=patience_s)
        except queue.Empty as error:
            raise EngineError(
                f"the engine has not reported a turn for {patience_s:.0f} s", fix="run `touchstone doctor`"
            ) from error
        if event is None:
            raise self._engine.ended()
        return event
