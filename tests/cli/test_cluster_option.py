"""Where the results of a run that was sent to a cluster's nodes are kept; the nodes themselves are stood in for."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cluster.test_fleet import written
from touchstone.cli import cluster_option
from touchstone.plan.plan import RunRequest
from touchstone.record.store import StoreError, load_run

WISH = RunRequest(profile="quick")


@pytest.fixture
def sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the servers' nodes; each sends back a run that began in the same second."""
    servers: list[str] = []

    def unpack(_results: bytes, folder: Path) -> bool:
        return written(folder).is_dir()

    def run_remotely(*_: object) -> list[SimpleNamespace]:
        return [SimpleNamespace(server=server, code=0, results=b"") for server in servers]

    travelling = SimpleNamespace(PART="TOUCHSTONE_TEST_PART", run_remotely=run_remotely, unpack=unpack)
    monkeypatch.setitem(sys.modules, "touchstone.cluster.remote_run", travelling)
    monkeypatch.setattr(cluster_option, "need_ray", lambda: None)
    monkeypatch.chdir(tmp_path)
    return servers


@pytest.mark.parametrize("servers", [["one"], ["one", "two"]])
def test_runs_of_the_same_second_are_kept_apart(tmp_path: Path, sent: list[str], servers: list[str]) -> None:
    sent += servers
    for _ in range(2):
        assert cluster_option.run_on_cluster("head", tmp_path, [], WISH, None) is not None
    first, second = (load_run(folder) for folder in sorted((tmp_path / "results").iterdir()))
    assert second.plan.run_id == f"{first.plan.run_id}-2"
    assert [path.name for path in sorted((tmp_path / "results").iterdir())] == [first.plan.run_id, second.plan.run_id]
    assert len(second.samples) == len(first.samples) > 0


def test_a_folder_that_holds_a_run_is_refused_before_anything_is_sent(
    tmp_path: Path, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    sent.append("one")
    assert cluster_option.run_on_cluster("head", tmp_path, [], WISH, out) is not None
    kept = json.loads((out / "plan.json").read_text())
    monkeypatch.setattr(
        sys.modules["touchstone.cluster.remote_run"], "run_remotely", lambda *_: pytest.fail("it was sent")
    )
    with pytest.raises(StoreError, match="holds a run already"):
        cluster_option.run_on_cluster("head", tmp_path, [], WISH, out)
    assert json.loads((out / "plan.json").read_text()) == kept
