"""Drafts of scenarios from `.proto` files."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import touchstone
from tests.grpc import server
from touchstone.contract.checker import ContractChecker
from touchstone.engine.ask import AskedService, RequestValues
from touchstone.manifest.files import SCENARIO_FILE
from touchstone.manifest.reader import read_manifest
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.spoken import SpokenProtocol

NOTES = Path(server.__file__).with_name("notes.proto")


@pytest.fixture(scope="module")
def asked() -> Iterator[AskedService]:
    running, port = server.start()
    yield AskedService.at("127.0.0.1", port, spoken=SpokenProtocol("h2c"))
    running.stop(None)


def drafted(folder: Path) -> Scenario:
    (folder / "api").mkdir()
    shutil.copy(NOTES, folder / "api" / "notes.proto")
    done = touchstone("new", "bench", "--from-proto", "api/notes.proto", cwd=folder)
    assert done.returncode == 0, done.stderr
    return read_manifest(folder / "bench" / SCENARIO_FILE, Scenario)


def test_each_method_has_a_check_that_a_service_can_pass(tmp_path: Path, asked: AskedService) -> None:
    scenario = drafted(tmp_path)
    outcomes = {check.id: ContractChecker(asked, {}).check(check) for check in scenario.contract}
    failed = {name for name, outcome in outcomes.items() if not outcome.passed}
    # This one never answers with a message: a draft cannot know that.
    assert failed == {"fail"}, outcomes
    assert set(outcomes) == {"echo", "fail", "nothing", "list", "put", "chat"}
    assert not asked.exchange(scenario.ready, RequestValues(1, "f", 0)).faults


def test_loads_are_of_methods_that_read(tmp_path: Path) -> None:
    scenario = drafted(tmp_path)
    assert {name: [one.name for one in load.requests] for name, load in scenario.loads.items()} == {
        "calls": ["echo", "fail", "nothing", "put"],
        "streams": ["list"],
    }
    written = (tmp_path / "bench" / SCENARIO_FILE).read_text(encoding="utf-8")
    assert 'proto = "../api/notes.proto"' in written
    assert "no name says that its method only reads" in written
    assert scenario.protocol == "h2c"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('syntax = "proto3"; message A {}', "the file has no service"),
        ("syntax = proto3", "api.proto"),
        ('syntax = "proto3"; import "b.proto"; service S { rpc A(b.B) returns (b.B); }', "not found: b.proto"),
        ("", "the file has no service"),
    ],
)
def test_a_file_without_methods_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "api.proto").write_text(text, encoding="utf-8")
    done = touchstone("new", "bench", "--from-proto", "api.proto", cwd=tmp_path)
    assert done.returncode == 2
    assert why in done.stderr
    assert not (tmp_path / "bench").exists()
    both = touchstone("new", "bench", "--from-proto", "api.proto", "--from-url", "http://127.0.0.1:1", cwd=tmp_path)
    assert both.returncode == 2
    assert "--from-proto" in both.stderr
