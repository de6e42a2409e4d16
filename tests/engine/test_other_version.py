"""An engine of another version than touchstone is named as the cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from touchstone.engine import client
from touchstone.engine.client import EngineError, run_job
from touchstone.record.hold_result import HoldResult


@pytest.mark.parametrize(
    "says",
    [
        "touchstone-engine: malformed job: unknown field `give_up`, expected one of `url`, `loop` at line 1 column 9",
        "touchstone-engine: malformed job: missing field `levels` at line 1 column 2",
        "touchstone-engine: malformed job: protocol: unknown variant `h3`, expected `h1`",
        "error: unexpected argument '--progress' found\n\nUsage: touchstone-engine hold",
    ],
)
def test_the_engine_and_the_way_to_a_newer_one_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str
) -> None:
    engine = tmp_path / "engine"
    engine.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{says}\nEND\nexit 2\n")
    engine.chmod(0o755)
    monkeypatch.setattr(client, "engine_path", lambda: engine)
    monkeypatch.setenv("TOUCHSTONE_ENGINE", str(engine))
    with pytest.raises(EngineError, match="of another version than touchstone") as raised:
        run_job("hold", {}, HoldResult)  # type: ignore[arg-type]  # the engine refuses it unread
    assert raised.value.where == str(engine)
    assert "make setup" in str(raised.value.fix)
    assert "unset TOUCHSTONE_ENGINE" in str(raised.value.fix)


def test_other_refusals_of_the_engine_stay_as_they_are() -> None:
    assert str(client.engine_refusal("the port is taken")) == "the port is taken"
