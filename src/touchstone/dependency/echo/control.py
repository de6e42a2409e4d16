"""Asks a downstream what it has seen, and tells it how to misbehave, on a port that no service knows."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any

from touchstone.dependency.base import DependencyError

_PATIENCE_S = 10.0


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

    def _exchange(self, method: str, target: str) -> dict[str, Any]:
        connection = http.client.HTTPConnection(self.address, timeout=_PATIENCE_S)
        try:
            connection.request(method, target, headers={"Connection": "close"})
            response = connection.getresponse()
            document = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise DependencyError(
                f"the downstream's control does not answer: {type(error).__name__} {error}".rstrip(),
                where=f"dependency {self.name}, {method} http://{self.address}{target}",
                fix="its log is kept with the results",
            ) from error
        finally:
            connection.close()
        if response.status != http.client.OK or not isinstance(document, dict):
            raise DependencyError(
                f"the downstream refuses: {document}", where=f"dependency {self.name}, {method} {target}"
            )
        return document
