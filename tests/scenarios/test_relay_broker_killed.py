"""A run whose broker is killed half-way ends, says so, and measures on with a fresh one."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from touchstone.dependency.base import DependencyContext
from touchstone.dependency.kafka import Kafka
from touchstone.engine.locate import engine_path
from touchstone.failure import TouchstoneError
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity
from touchstone.record.store import load_run
from touchstone.toolchain.cache import cache_folder
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

ROOT = Path(__file__).parents[2]
UNDER_WAY_S = 1.0
"""After the relay's start: a thousand messages take two seconds and more."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _tools(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("tools")
    try:
        engine = engine_path()
    except TouchstoneError as error:
        pytest.skip(str(error))
    if lacking := Kafka.missing(DependencyContext(folder, folder, (), engine, cache_folder())):
        pytest.skip(lacking)
    if not isinstance(go := find_tool("go", ">=1.26"), FoundTool):
        pytest.skip(str(go))


def child_of(run: subprocess.Popen[str], name: str, within_s: float = 60.0) -> psutil.Process:
    """The process below the run with this program, or main class, as soon as it is there."""
    until = time.monotonic() + within_s
    while time.monotonic() < until and run.poll() is None:
        for child in psutil.Process(run.pid).children(recursive=True):
            try:
                if any(word == name or word.endswith(f"/{name}") for word in child.cmdline()):
                    return child
            except psutil.NoSuchProcess:
                continue
        time.sleep(0.02)
    raise AssertionError(f"no {name} below the run, which {'ended' if run.poll() is not None else 'goes on'}")


def test_a_broker_killed_half_way_spoils_one_drain_and_no_other(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [str(Path(sys.executable).with_name("touchstone")), "run", "relay", "--quick", "--rounds", "2"]
    command += ["--anyway", "--stacks", "go/plain", "--phase", "drain", "--seed", "7", "--out", str(out)]
    run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = ""
    try:
        assert run.stdout is not None  # it was asked for as a pipe
        # Before the rounds the contract stops brokers on its own account.
        for line in run.stdout:
            said += line
            if line.startswith("round 1 of 2"):
                break
        child_of(run, "relay")
        time.sleep(UNDER_WAY_S)
        child_of(run, "kafka.Kafka").kill()
        rest, _ = run.communicate(timeout=300)
        said += rest
    finally:
        if run.poll() is None:
            run.terminate()
            run.wait(30)

    recorded = load_run(out)
    drains = sorted((s for s in recorded.samples if s.phase == "drain"), key=lambda s: s.round or 0)
    assert [drain.round for drain in drains] == [1, 2], said
    spoilt, whole = drains
    assert spoilt.failure is not None
    assert "broker" in spoilt.failure.what
    assert "drain_rate" not in spoilt.figures
    assert whole.failure is None, said
    assert whole.drain is not None
    assert whole.drain.lost == 0
    assert whole.figures["drain_rate"] > 0
    (finding,) = [f for f in judge(recorded).findings if f.code == "phase-failed"]
    assert finding.severity is Severity.INVALID
    assert finding.sample == spoilt.id
    assert "broker" in finding.statement
    for report in ("report.md", "report.html"):
        assert "the broker is down" in (out / report).read_text(encoding="utf-8")
    assert "the broker is down" in " ".join(said.split())
