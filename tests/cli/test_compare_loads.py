"""`touchstone compare` on results of `touchstone load`, taken from real servers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_load import null_server
from tests.run.test_end_to_end import touchstone
from touchstone.engine.locate import engine_path
from touchstone.failure import UsageError
from touchstone.run.load_results import load_results_at, run_of_load_results


def load(url: str, out: Path, *words: str) -> None:
    out.parent.mkdir(exist_ok=True)
    command = [str(engine_path()), "load", url, "-c", "4", "-d", "200ms", "--out", str(out), *words]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Three loads of a server, and three of one that responds a hundred times more slowly."""
    echo = [str(engine_path()), "echo", "--port=0", "--delay-ms=20"]
    slow = subprocess.Popen(echo, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert slow.stdout is not None
        behind = f"http://{json.loads(slow.stdout.readline())['listening']}/echo"
        with null_server() as url:
            for number in range(3):
                load(f"{url}echo", tmp_path / "fast" / f"{number}.json")
                load(behind, tmp_path / "slow" / f"{number}.json")
            load(url, tmp_path / "other.json", "--pipeline", "2")
            load(f"{url}echo", tmp_path / "streams.json", "--protocol", "h2c", "--streams", "2")
    finally:
        slow.terminate()
        slow.wait()
    return tmp_path


def test_a_folder_of_results_is_a_run_of_as_many_rounds(results: Path) -> None:
    done = touchstone(results, "compare", "fast", "slow", "--figure", "throughput", "--gate")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "worse" in done.stdout
    assert "does not name its machine" in done.stdout
    done = touchstone(results, "compare", "slow", "fast", "--figure", "throughput", "--gate")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "better" in done.stdout


def test_single_results_have_no_interval_and_decide_nothing(results: Path) -> None:
    words = ["fast/0.json", "slow/0.json", "--figure", "throughput", "--gate", "--all"]
    done = touchstone(results, "compare", *words)
    assert done.returncode == 5, done.stdout + done.stderr
    assert "one result has no interval" in done.stdout


def test_results_of_different_loads_are_not_compared(results: Path) -> None:
    done = touchstone(results, "compare", "fast/0.json", "other.json")
    assert done.returncode == 4
    assert "pipeline 2" in done.stderr
    done = touchstone(results, "compare", "fast/0.json", "streams.json")
    assert done.returncode == 4
    assert "2 streams" in done.stderr
    mixed = [*load_results_at(results / "fast"), results / "other.json"]
    with pytest.raises(UsageError, match="pipeline 2"):
        run_of_load_results(mixed)
    (results / "other.json").write_text("{}")
    with pytest.raises(UsageError, match="no result of a load"):
        run_of_load_results([results / "other.json"])
