"""What a load sends: a weighted mix of requests, or journeys, and the rows that both take values from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationInfo, field_validator, model_validator

from touchstone.manifest.base import ManifestModel
from touchstone.manifest.exchange import LoadRequest, WeightedRequest
from touchstone.manifest.journey import Journey
from touchstone.manifest.rows import read_rows


class Mix(ManifestModel):
    """What is sent: `requests` or `journeys`. It is a part of each load of a scenario.toml, and the whole of a file for
    `touchstone load --mix`.
    """

    rows: str | None = None
    """A CSV or JSON lines file next to the manifest, whose rows requests take in turn, by `{row.NAME}`."""
    requests: list[WeightedRequest] = []
    """A mix of requests, drawn by weight."""
    journeys: list[Journey] = []
    """Instead of `requests`: each connection makes one journey after the other, drawn by weight."""

    @field_validator("rows")
    @classmethod
    def _rows_are_there(cls, rows: str | None, info: ValidationInfo) -> str | None:
        folder = (info.context or {}).get("folder")
        if rows is None or not isinstance(folder, Path):
            return rows
        path = (folder / rows).resolve()
        read_rows(path)
        return str(path)

    @property
    def all_requests(self) -> Sequence[LoadRequest]:
        """Everything that it sends: the mix, or the steps of all journeys."""
        return [*self.requests, *(step for journey in self.journeys for step in journey.steps)]

    @model_validator(mode="after")
    def _sends_something(self) -> Mix:
        if bool(self.requests) == bool(self.journeys):
            raise ValueError("a load sends `requests` or `journeys`: name one of them")
        return self

    @property
    def is_streamed(self) -> bool:
        """Whether each of its responses is a stream of events."""
        return all(request.stream for request in self.all_requests)

    @property
    def has_messages(self) -> bool:
        """Whether it sends messages over WebSockets."""
        return any(request.websocket for request in self.all_requests)

    @model_validator(mode="after")
    def _messages_have_one_handshake(self) -> Mix:
        if not self.has_messages:
            return self
        if self.journeys or not all(request.websocket for request in self.requests):
            raise ValueError("a load sends messages over WebSockets, or requests: not both, and no journeys")
        first = self.requests[0]
        shaken = (first.target, first.headers, first.websocket)
        if any((one.target, one.headers, one.websocket) != shaken for one in self.requests):
            raise ValueError(
                "the messages of a load go over the same connections: give all the same `target`, `headers` and "
                "`websocket`"
            )
        return self
