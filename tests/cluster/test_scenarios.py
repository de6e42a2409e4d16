"""The lab's own scenarios on a cluster: to the report, with the server's dependencies, connections held from afar."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.network import Machine
from tests.cluster.runs import own

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(shutil.which("go") is None, reason="builds the stacks in Go"),
]


def samples(out: Path, phase: str) -> list[dict[str, Any]]:
    records = [json.loads(path.read_text()) for path in sorted((out / "samples").glob("*.json"))]
    return [record for record in records if record["phase"] == phase]


def test_users_is_loaded_in_slices_and_its_rows_are_counted_on_the_servers_node(cluster: list[Machine]) -> None:
    out = own(cluster[0], "users", "--stacks", "go", "--load", "insert", "--phase", "verify", "--phase", "load")
    found = [record for record in samples(out, "load") if record["contender"] != "tare"]
    assert found and [record["failure"] for record in found] == [None] * len(found)
    for record in found:
        assert record["slices"]["slices"] and len(record["result"]["generators"]) == 2
        assert record["proofs"] and all(proof["passed"] for proof in record["proofs"]), record["proofs"]
    assert all(record["failure"] is None for record in samples(out, "verify"))


@pytest.mark.skipif(not any(Path("/usr/lib/postgresql").glob("*/bin/initdb")), reason="needs Debian's PostgreSQL")
def test_cruds_database_is_on_the_servers_node_and_counts_what_was_asked_from_elsewhere(cluster: list[Machine]) -> None:
    out = own(cluster[0], "crud", "--stacks", "go", "--load", "api-async", "--phase", "verify", "--phase", "load")
    assert all(record["failure"] is None for record in samples(out, "verify"))
    found = [record for record in samples(out, "load") if record["contender"] != "tare"]
    assert found and [record["failure"] for record in found] == [None] * len(found)
    for record in found:
        assert len(record["result"]["generators"]) == 2
        assert record["proofs"] and all(proof["passed"] for proof in record["proofs"]), record["proofs"]
        database = [turn["dependencies_cpu_s"]["database"] for turn in record["slices"]["slices"]]
        assert sum(database) > 0, "the database worked, and nobody saw it"


def test_hello_is_loaded_and_its_connections_come_from_both_generators(cluster: list[Machine]) -> None:
    out = own(cluster[0], "hello", "--stacks", "go", "--load", "hundred", "--phase", "load", "--phase", "hold")
    assert all(record["failure"] is None for record in samples(out, "load"))
    for record in samples(out, "hold"):
        assert record["failure"] is None, record["failure"]
        assert record["hold"]["engine_processes"] >= 2
        assert max(level["connections"] for level in record["hold"]["levels"]) >= 10_000
        assert record["figures"]["hold_rss_per_connection"] > 0
