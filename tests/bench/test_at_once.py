"""Which loads can be put on all contenders at once."""

from __future__ import annotations

import resource

from touchstone.bench.at_once import files_suffice, port_conflict
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.manifest.stack import GrpcPort, Stack, Variant


def test_the_connections_to_all_contenders_are_counted_together() -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    load = Load.model_validate({"title": "A load", "requests": [{"target": "/"}], "connections": most // 4})
    assert files_suffice(load, 1)
    assert not files_suffice(load, 4)


def contender(name: str, port: int | None, grpc_port: GrpcPort | None = None) -> Contender:
    variant = Variant(title="a server", run=["./server"], port=port, grpc_port=grpc_port)
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


def test_a_fixed_port_of_grpc_is_such_a_port_too() -> None:
    a, b = contender("a", None, 9000), contender("b", None, 9000)
    assert "both listen on port 9000" in str(port_conflict([a, b]))
    assert "both listen on port 9000" in str(port_conflict([contender("c", 9000), b]))
    assert port_conflict([a, contender("c", 9001), contender("d", None, "free"), contender("e", None, "free")]) is None
    assert port_conflict([contender("f", 9000, 9000)]) is None
