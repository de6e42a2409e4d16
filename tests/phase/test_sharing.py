"""Which loads of a round one process can serve."""

from __future__ import annotations

from typing import Any

from touchstone.manifest.load import Load
from touchstone.phase.load.slices import _sharing


def load(**keys: Any) -> Load:
    return Load.model_validate({"title": "A load", "requests": [{"target": "/"}], **keys})


ADD = [{"target": "/add?name=bench"}]
OTHER = [{"target": "/add?name=other"}]


def test_equal_preparations_share_a_process_and_others_do_not() -> None:
    loads = {
        "lookup": load(prepare=ADD),
        "lookup-open": load(prepare=ADD, loop="open", rate=100.0),
        "article": load(prepare=OTHER),
        "ping": load(),
    }
    assert _sharing(loads) == [["lookup", "lookup-open", "ping"], ["article"]]


def test_other_settings_and_limits_ask_for_other_processes() -> None:
    loads = {
        "plain": load(),
        "small": load(memory_limit_mb=128),
        "half": load(cpus=0.5),
        "durable": load(dependency_settings={"database": {"fsync": True}}),
    }
    assert _sharing(loads) == [["plain"], ["small"], ["half"], ["durable"]]


def test_loads_that_need_no_preparation_share_one() -> None:
    assert _sharing({"a": load(), "b": load()}) == [["a", "b"]]
