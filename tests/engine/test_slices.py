"""Orders between a load's requests: one that gets no answer ends, and is an error."""

from __future__ import annotations

from typing import Any, cast

import pytest

from touchstone.engine import slices
from touchstone.engine.client import EngineError
from touchstone.engine.protocol import SlicesJob
from touchstone.engine.slices import SlicesSession


class Silent:
    """An engine that takes orders and says nothing."""

    def __init__(self, *_: object, **__: object) -> None:
        self.orders: list[Any] = []

    def tell(self, order: Any) -> None:
        """Take it."""
        self.orders.append(order)


def test_an_order_that_is_not_answered_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "EngineProcess", Silent)
    monkeypatch.setattr(slices, "_PATIENCE_S", 0.1)
    session = SlicesSession(cast(SlicesJob, {}), 1.0, lambda _: None)
    order = {"order": "send", "timeout_s": 0.1, "repeat": 2, "within_s": 0.0}
    with pytest.raises(EngineError, match="not answered a request inside a load"):
        session.ask(0, order)
