"""The small commands, as a user types them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import command
from tests.intake.recordings import entry, har
from tests.judge.capacities import capacity_run
from tests.judge.sound import CONTENDERS, sound_run
from touchstone.cli.places import scenarios_root
from touchstone.record.run import Run
from touchstone.record.store import RunStore
from touchstone.vocabulary.figure import FigureGroup, figures_of


def touchstone(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return command.touchstone(*words, cwd=folder, env={"NO_COLOR": "1", "COLUMNS": "200"})


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


def test_list_fits_on_a_screen(tmp_path: Path) -> None:
    lines = touchstone(tmp_path, "list").stdout.splitlines()
    assert len(lines) <= 40
    assert any(line.startswith("users") for line in lines)
    assert "exhibits are hidden" in lines[-1]


def test_list_of_a_scenario_has_a_line_for_each_contender_and_folds_exhibits(tmp_path: Path) -> None:
    rows = json.loads(touchstone(tmp_path, "list", "crud", "--json").stdout)
    assert {row["scenario"] for row in rows} == {"crud"}
    text = touchstone(tmp_path, "list", "crud").stdout
    for row in rows:
        assert (f"{row['contender']} " in text) == (row["exhibit"] is None)
    whole = touchstone(tmp_path, "list", "crud", "--exhibits").stdout
    assert all(f"{row['contender']} " in whole for row in rows)


def test_list_of_a_scenario_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    answer = touchstone(tmp_path, "list", "user")
    assert answer.returncode == 2
    assert "users" in answer.stderr


def test_list_takes_the_folder_of_a_scenario_of_ones_own(tmp_path: Path) -> None:
    hello, mine = scenarios_root() / "hello", tmp_path / "mine"
    (mine / "go").mkdir(parents=True)
    for file in ("scenario.toml", "go/stack.toml"):
        (mine / file).write_text((hello / file).read_text().replace('"hello"', '"shop"', 1))
    rows = json.loads(touchstone(tmp_path, "list", "mine", "--json").stdout)
    assert [(row["scenario"], row["contender"]) for row in rows] == [
        ("shop", "go/plain"),
        ("shop", "go/upx"),
    ]


def test_list_of_runs_says_when_of_what_and_what_came_of_it(runs: Path) -> None:
    rows = json.loads(touchstone(runs, "list", "--runs", "--json").stdout)
    assert [row["run"] for row in rows] == ["20260102-000000-after", "20260101-000000-before"]
    assert {row["verdict"] for row in rows} == {"not judged"}
    touchstone(runs, "report", "after")
    head, first, *_ = touchstone(runs, "list", "--runs").stdout.splitlines()
    assert head.split() == ["run", "date", "scenario", "contenders", "verdict", "lab"]
    assert first.startswith("20260102-000000-after")
    assert "not judged" not in first


def test_show_has_tables_in_a_log_and_lines_on_demand(runs: Path) -> None:
    table = touchstone(runs, "show", "after").stdout
    lines = touchstone(runs, "show", "after", "--lines").stdout
    assert "▲ better  ▼ worse" in table
    assert "\x1b" not in table
    assert any(line.startswith("trace a number:") for line in lines.splitlines())


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


@pytest.mark.parametrize("words", [("before", "before"), ("before", "results/20260101-000000-before"), ("last",)])
def test_a_run_is_not_compared_with_itself(runs: Path, words: tuple[str, ...]) -> None:
    done = touchstone(runs, "compare", *words, "--gate")
    assert done.returncode == 2, done.stdout
    assert "both are the same run" in done.stderr


def test_a_gate_watches_capacities_and_does_not_pass_with_nothing_to_watch(runs: Path) -> None:
    before = {"go/std": [9_000.0, 9_050.0, 8_990.0, 9_020.0], "rust/std": [12_000.0, 12_080.0, 12_010.0, 12_040.0]}
    half = {name: [rate / 2 for rate in rates] for name, rates in before.items()}
    for name, rates in (("20260104-000000-wide", before), ("20260105-000000-narrow", half)):
        run = capacity_run(rates)
        run.samples = [sample for sample in run.samples if sample.phase in ("capacity", "build")]
        stored(run, runs / "results" / name)
    lost = touchstone(runs, "compare", "wide", "narrow", "--gate")
    assert lost.returncode == 3, lost.stdout + lost.stderr
    assert "2 figures worse" in lost.stdout
    for name in ("wide", "narrow"):
        for path in sample_paths(runs, f"2026010{4 + (name == 'narrow')}-000000-{name}", "capacity"):
            path.unlink()
    blind = touchstone(runs, "compare", "wide", "narrow", "--gate", "--all")
    assert "Build" in blind.stdout, "figures are compared"
    assert blind.returncode == 4, blind.stdout + blind.stderr
    assert "gate passed" not in blind.stdout
    assert "nothing to compare" in blind.stderr


def sample_paths(runs: Path, run: str, word: str) -> list[Path]:
    return sorted((runs / "results" / run / "samples").glob(f"*{word}*.json" if word else "*.json"))


def test_a_contender_that_is_gone_breaches_the_gate(runs: Path) -> None:
    same = runs / "results" / "20260103-000000-dead"
    shutil.copytree(runs / "results" / "20260101-000000-before", same)
    for path in sample_paths(runs, same.name, "rust.std"):
        path.unlink()
    done = touchstone(runs, "compare", "before", "dead", "--gate")
    assert done.returncode == 3
    assert "gone rust/std" in done.stdout
    assert touchstone(runs, "compare", "dead", "before", "--gate").returncode == 0


def test_a_load_that_failed_in_the_later_run_breaches_the_gate(runs: Path) -> None:
    same = runs / "results" / "20260103-000000-failed"
    shutil.copytree(runs / "results" / "20260101-000000-before", same)
    for path in sample_paths(runs, same.name, "go.std"):
        document = json.loads(path.read_text())
        if document["phase"] == "load":
            document |= {"figures": {}, "evidence": None, "failure": {"what": "the server exited with code 7"}}
            path.write_text(json.dumps(document))
    done = touchstone(runs, "compare", "before", "failed", "--gate")
    assert done.returncode == 3
    assert "the server exited with code 7" in done.stdout


def test_a_gate_does_not_pass_on_what_it_does_not_know(runs: Path) -> None:
    few = runs / "results" / "20260103-000000-few"
    shutil.copytree(runs / "results" / "20260101-000000-before", few)
    for path in sample_paths(runs, few.name, ""):
        document = json.loads(path.read_text())
        if document["round"] and document["round"] > 2:
            path.unlink()
    words = ("compare", "before", "few", "--gate", "--figure", "throughput=2%")
    done = touchstone(runs, *words)
    assert done.returncode == 5
    assert "gate undecided" in done.stdout
    assert touchstone(runs, *words, "--allow-undecided").returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--figure", "troughput"], "did you mean 'throughput'"),
        (["--load", "absent"], "there are: lookup"),
        (["--margin", "-1"], "is not a margin"),
        (["--figure", "throughput=abc"], "is not a margin"),
    ],
)
def test_a_gate_on_what_does_not_exist_is_a_mistake(runs: Path, words: list[str], said: str) -> None:
    done = touchstone(runs, "compare", "before", "after", "--gate", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_of_runs_of_different_machines_is_compared_what_can_be(runs: Path) -> None:
    path = runs / "results" / "20260102-000000-after" / "environment.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"cpu_model": "another"}))
    told = touchstone(runs, "compare", "before", "after", "--all", "--markdown", "c.md")
    assert told.returncode == 0
    assert "cpu_model" in told.stdout
    assert "not compared" in told.stdout and "it is the reference itself" in told.stdout
    document = json.loads(touchstone(runs, "compare", "before", "after", "--json").stdout)
    ratios = {change["figure"] for change in document["changes"] if change["relative_to"] == "go/std"}
    counted = {change["figure"] for change in document["changes"] if change["relative_to"] is None}
    assert "throughput" in ratios and counted <= set(figures_of(FigureGroup.EXACT))
    text = (runs / "c.md").read_text()
    assert "different machines" in text and "`rust/std`" in text and "()" not in text
    absolute = json.loads(touchstone(runs, "compare", "before", "after", "--anyway", "--json").stdout)
    assert {change["relative_to"] for change in absolute["changes"]} == {None}
    assert touchstone(runs, "compare", "before", "after", "--reference", "absent").returncode == 2


def test_every_figure_can_be_explained(runs: Path) -> None:
    shown = json.loads(touchstone(runs, "show", "before", "--json").stdout)
    estimate = next(e for e in shown["judgement"]["estimates"] if e["figure"] == "throughput")
    told = touchstone(runs, "explain", "before", f"{estimate['contender']}:throughput").stdout
    for sample in estimate["samples"]:
        assert sample in told
    assert re.search(r"median [\d.]+ k?/s, interval [\d.]+ k?/s to", told)
    assert estimate["samples"][0] in touchstone(runs, "explain", "before", estimate["samples"][0]).stdout
    assert touchstone(runs, "explain", "before", "nothing").returncode == 2
    slip = touchstone(runs, "explain", "before", f"{estimate['contender']}:troughput")
    assert slip.returncode == 2
    assert "did you mean 'throughput'? of" in slip.stderr


def test_a_report_is_written_again_from_its_records(runs: Path) -> None:
    told = touchstone(runs, "report", "before")
    assert told.returncode == 0
    assert (runs / "results" / "20260101-000000-before" / "report.html").stat().st_size > 0


def test_a_new_scenario_is_sound_and_never_written_over(tmp_path: Path) -> None:
    assert touchstone(tmp_path, "new", "mine").returncode == 0
    assert touchstone(tmp_path, "new", "mine", "--stack", "go", "--name", "second").returncode == 0
    refused = touchstone(tmp_path, "new", "mine", "--name", "second")
    assert refused.returncode == 2
    assert "exists already" in refused.stderr
    unknown = touchstone(tmp_path, "new", "mine", "--stack", "pyton")
    assert unknown.returncode == 2
    assert "did you mean 'python'" in unknown.stderr
    assert (tmp_path / "mine" / "second" / "main.go").exists()
    assert (tmp_path / "mine" / "python" / "server.py").exists()
    assert touchstone(tmp_path, "check", "mine").returncode == 0
    assert "mine: " in touchstone(tmp_path, "check").stdout


def test_an_example_that_nobody_changed_gives_way_to_a_draft_and_the_stack_stays(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"name": "app", "scripts": {"start": "node server.js"}}')
    (tmp_path / "server.js").touch()
    first = touchstone(tmp_path, "new", "bench", "--service", ".")
    assert first.returncode == 0, first.stderr
    assert "touchstone new bench --from-url http://" in first.stdout
    stack = (tmp_path / "bench" / "service" / "stack.toml").read_text()
    session = ("--from-har", str(har(tmp_path, entry("GET", "/", 200))))
    drafted = touchstone(tmp_path, "new", "bench", *session)
    assert drafted.returncode == 0, drafted.stderr
    assert "touchstone run bench --phase verify" in drafted.stdout
    assert "--service" not in drafted.stdout, "there is a stack already"
    scenario = (tmp_path / "bench" / "scenario.toml").read_text()
    assert "A draft from" in scenario
    assert (tmp_path / "bench" / "service" / "stack.toml").read_text() == stack

    again = touchstone(tmp_path, "new", "bench", *session)
    assert again.returncode == 2
    assert "there is already a scenario" in again.stderr
    assert "name another folder" in again.stderr and "move this file away" in again.stderr
    assert (tmp_path / "bench" / "scenario.toml").read_text() == scenario


def test_an_example_that_somebody_changed_is_not_written_over(tmp_path: Path) -> None:
    assert touchstone(tmp_path, "new", "bench").returncode == 0
    scenario = tmp_path / "bench" / "scenario.toml"
    scenario.write_text(scenario.read_text().replace("connections = 64", "connections = 32"))
    refused = touchstone(tmp_path, "new", "bench", "--from-har", str(har(tmp_path, entry("GET", "/", 200))))
    assert refused.returncode == 2
    assert "there is already a scenario" in refused.stderr
    assert "connections = 32" in scenario.read_text()


def test_no_color_is_obeyed(runs: Path) -> None:
    assert "\x1b[" not in touchstone(runs, "show", "before").stdout


def test_a_place_that_cannot_be_written_is_named_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for words in (("--stack", "node"), ("--from-har", str(har(tmp_path, entry("GET", "/", 200))))):
        done = touchstone(tmp_path, "new", "file/my-bench", *words)
        assert done.returncode == 1
        assert "file/my-bench: a part of the path is not a folder" in done.stderr
