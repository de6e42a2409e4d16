"""Reads a downstream's counts and sets its faults, on a port that no service knows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from touchstone.dependency.base import DependencyError
from touchstone.engine.ask import AskedService, RequestValues
from touchstone.manifest.exchange import Request
from touchstone.manifest.template import literal

_PATIENCE_S = 10.0
_VALUES = RequestValues(counter=0, fresh="", seed=0)


@dataclass(frozen=True)
class Arrival:
    """A message id that reached the downstream: when, in seconds on CLOCK_MONOTONIC, in the order of arrival."""

    at_s: float
    id: str


@dataclass(frozen=True)
class Control:
    """The control endpoint of one downstream."""

    name: str
    address: str

    def stats(self) -> dict[str, Any]:
        """All counters."""
        return self._exchange("GET", "/_stats")

    def arrivals(self, start: int = 0) -> list[Arrival]:
        """The log of message ids from a place on. Raises DependencyError if the log overflowed: no proof without it."""
        found: list[Arrival] = []
        while True:
            page = self._exchange("GET", f"/_log?from={start}")
            if page["not_logged"]:
                raise DependencyError(
                    f"{page['not_logged']} message ids did not fit into the downstream's log",
                    where=f"dependency {self.name}",
                    fix="drain fewer messages at a time",
                )
            found += [Arrival(at / 1e9, str(name)) for _, at, name in page["entries"]]
            start = page["next"]
            if start >= page["total"]:
                return found

    def reset(self) -> None:
        """Set every counter to zero, and forget the log."""
        self._exchange("POST", "/_reset")

    def fail(self, query: str) -> None:
        """Misbehave from now on as the query says, such as `mode=status&code=500`."""
        self._exchange("POST", f"/_fail?{query}")

    def _exchange(self, method: Literal["GET", "POST"], target: str) -> dict[str, Any]:
        where = f"dependency {self.name}, {method} http://{self.address}{target}"
        request = Request(method=method, target=literal(target))
        answer = AskedService(f"http://{self.address}", _PATIENCE_S).exchange(request, _VALUES, whole=True)
        try:
            document = json.loads(answer.body)
        except ValueError as error:
            raise DependencyError(
                f"the downstream's control does not answer: {answer.failure or error}",
                where=where,
                fix="its log is kept with the results",
            ) from error
        if answer.faults or not isinstance(document, dict):
            raise DependencyError(f"the downstream refuses: {document}", where=where)
        return document
