"""The small commands, as a user types them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.judge.sound import CONTENDERS, sound_run
from touchstone.record.run import Run
from touchstone.record.store import RunStore

COMMAND = [sys.executable, "-c", "from touchstone.cli.main import main; main()"]


def touchstone(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"NO_COLOR": "1", "COLUMNS": "200"}
    return subprocess.run(
        [*COMMAND, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
    )


def stored(run: Run, folder: Path) -> None:
    store = RunStore(folder)
    store.open(run.plan, run.environment)
    for sample in run.samples:
        store.add(sample.model_copy(update={"id": sample.id.replace("/", ".")}))
    store.write_state(ended=True)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    before, after = sound_run(), sound_run(contenders={name: 0.7 * rate for name, rate in CONTENDERS.items()})
    stored(before, tmp_path / "results" / "20260101-000000-before")
    stored(after, tmp_path / "results" / "20260102-000000-after")
    return tmp_path


def test_help_names_every_command(tmp_path: Path) -> None:
    text = touchstone(tmp_path, "--help").stdout
    for name in ("run", "list", "show", "report", "explain", "compare", "new", "doctor", "load", "probe"):
        assert f" {name} " in text


def test_list_names_the_labs_contenders(tmp_path: Path) -> None:
    rows = json.loads(touchstone(tmp_path, "list", "--json").stdout)
    assert {"go/plain", "rust/plain"} <= {row["contender"] for row in rows if row["scenario"] == "users"}


def test_doctor_is_readable_by_a_machine(tmp_path: Path) -> None:
    rows = json.loads(touchstone(tmp_path, "doctor", "--json").stdout)
    assert {"engine", "CPUs", "cgroups", "python3"} <= {row["what"] for row in rows}


def test_a_gate_is_breached_by_a_real_loss_and_only_by_that(runs: Path) -> None:
    assert touchstone(runs, "compare", "before", "after").returncode == 0
    lost = touchstone(runs, "compare", "before", "after", "--gate")
    assert lost.returncode == 3
    assert "worse" in lost.stdout
    assert "Throughput" in lost.stdout
    assert touchstone(runs, "compare", "after", "before", "--gate").returncode == 0
    assert touchstone(runs, "compare", "before", "before", "--gate").returncode == 0


def test_runs_of_different_machines_are_not_compared(runs: Path) -> None:
    path = runs / "results" / "20260102-000000-after" / "environment.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"cpu_model": "another"}))
    refused = touchstone(runs, "compare", "before", "after")
    assert refused.returncode == 4
    assert "cpu_model" in refused.stderr
    assert touchstone(runs, "compare", "before", "after", "--anyway").returncode == 0


def test_every_figure_can_be_explained(runs: Path) -> None:
    shown = json.loads(touchstone(runs, "show", "before", "--json").stdout)
    estimate = next(e for e in shown["judgement"]["estimates"] if e["figure"] == "throughput")
    told = touchstone(runs, "explain", "before", f"{estimate['contender']}:throughput").stdout
    for sample in estimate["samples"]:
        assert sample in told
    assert estimate["samples"][0] in touchstone(runs, "explain", "before", estimate["samples"][0]).stdout
    assert touchstone(runs, "explain", "before", "nothing").returncode == 2


def test_a_report_is_written_again_from_its_records(runs: Path) -> None:
    told = touchstone(runs, "report", "before")
    assert told.returncode == 0
    assert (runs / "results" / "20260101-000000-before" / "report.html").stat().st_size > 0


def test_a_new_scenario_is_sound_and_never_written_over(tmp_path: Path) -> None:
    assert touchstone(tmp_path, "new", "mine").returncode == 0
    assert touchstone(tmp_path, "new", "mine", "--stack", "second").returncode == 0
    refused = touchstone(tmp_path, "new", "mine", "--stack", "second")
    assert refused.returncode == 2
    assert "there already" in refused.stderr
    shutil.rmtree(tmp_path / "mine" / "second")
    assert (tmp_path / "mine" / "first" / "server.py").exists()


def test_no_color_is_obeyed(runs: Path) -> None:
    assert "\x1b[" not in touchstone(runs, "show", "before").stdout
