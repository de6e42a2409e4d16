"""Which loads can be put on all contenders at once."""

from __future__ import annotations

import resource

from touchstone.bench.at_once import files_suffice, port_conflict
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.manifest.stack import Stack, Variant


def test_the_connections_to_all_contenders_are_counted_together() -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    load = Load.model_validate({"title": "A load", "requests": [{"target": "/"}], "connections": most // 4})
    assert files_suffice(load, 1)
    assert not files_suffice(load, 4)


def contender(name: str, port: int | None) -> Contender:
    variant = Variant(title="a server", run=["./server"], port=port)
    stack = Stack(schema=1, name=name, scenario="demo", title=name, language="Go", variants={"plain": variant})
    return Contender(stack, "plain")


def test_contenders_that_insist_on_one_port_cannot_run_at_once() -> None:
    assert (
        port_conflict([contender("a", 8080), contender("b", 8081), contender("c", None), contender("d", None)]) is None
    )
    why = port_conflict([contender("a", 8080), contender("b", None), contender("c", 8080)])
    assert why is not None
    assert all(word in why for word in ("a/plain", "c/plain", "8080", "cannot run at once"))
    assert "b/plain" not in why
