"""Journeys through a real service: as a contract, as a load in slices, and from the command line by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tests.run.test_end_to_end import report_of, touchstone

SCENARIO = """
schema = 1
name = "notes"
title = "Notes"
summary = "Notes are kept, given back, listed and forgotten."
[ready]
target = "/ping"
[[contract]]
id = "life"
says = "a note is found under its number, and gone once it is deleted"
[[contract.steps]]
method = "POST"
target = "/notes"
body_file = "note.json"
expect = { status = 201 }
captures = { id = { json = "/id" }, place = { header = "location" } }
[[contract.steps]]
target = "{capture.place}"
expect = { json = { text = "life {fresh}" } }
[[contract.steps]]
method = "DELETE"
target = "/notes/{capture.id}"
expect = { status = 204 }
[[contract.steps]]
target = "/notes/{capture.id}"
expect = { status = 404 }
[loads.life]
title = "A note's whole life"
connections = 4
rows = "words.csv"
[[loads.life.journeys]]
name = "life"
weight = 3
[[loads.life.journeys.steps]]
name = "create"
method = "POST"
target = "/notes"
body = '{"text":"{row.word:json} {counter} {fresh}"}'
expect = { status = 201, json = { id = { type = "integer" } } }
captures = { id = { json = "/id" } }
[[loads.life.journeys.steps]]
name = "read"
target = "/notes/{capture.id}"
think_s = 0.001
expect = { json = { text = "{row.word} {counter} {fresh}" } }
[[loads.life.journeys.steps]]
name = "list"
target = "/notes"
expect = { json = { notes = { type = "array" } } }
[[loads.life.journeys.steps]]
name = "delete"
method = "DELETE"
target = "/notes/{capture.id}"
expect = { status = 204 }
[[loads.life.journeys]]
name = "look"
steps = [{ name = "any", target = "/notes/{key:1..50:zipf}", expect = { status = [200, 404], pattern = ".*" } }]
"""

STACK = """
schema = 1
name = "{name}"
scenario = "notes"
title = "{name}"
language = "Python"
[needs]
python = ">=3.10"
[variants.plain]
title = "plain"
artifacts = ["server.py"]
run = ["python", "server.py"]
env = {{ {env} }}
"""


def notes(folder: Path, **env: str) -> Path:
    """The scenario with one stack."""
    stack = folder / "kept"
    stack.mkdir(parents=True)
    (folder / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    (folder / "note.json").write_text('{"text": "life {fresh}"}', encoding="utf-8")
    (folder / "words.csv").write_text('word,unused\nZoë,1\n"a ""b"" {c}",2\n', encoding="utf-8")
    settings = ", ".join(f'{key} = "{value}"' for key, value in env.items())
    (stack / "stack.toml").write_text(STACK.format(name="kept", env=settings), encoding="utf-8")
    shutil.copy(Path(__file__).with_name("notes_service.py"), stack / "server.py")
    return folder


def loaded(report: dict[str, Any], contender: str) -> list[dict[str, Any]]:
    samples = [s for s in report["run"]["samples"] if s["phase"] == "load" and s["contender"] == contender]
    return [sample["evidence"]["result"] for sample in samples]


def test_a_journey_is_loaded_in_slices_with_every_response_checked(tmp_path: Path) -> None:
    folder = notes(tmp_path / "notes")
    _, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "verify", "--phase", "load")
    assert [c["passed"] for s in report["run"]["samples"] for c in s["checks"] if c["id"] == "life"] != []
    assert all(c["passed"] for s in report["run"]["samples"] for c in s["checks"])
    (result,) = loaded(report, "kept/plain")
    assert result["counts"]["ok"] == result["counts"]["sent"] > 0, result["first_errors"]
    rows = {row["name"]: row for row in result["requests"]}
    assert list(rows) == ["life/create", "life/read", "life/list", "life/delete", "look/any"]
    life, look = result["journeys"]
    assert life["failed"] == look["failed"] == 0
    assert life["completed"] == rows["life/delete"]["ok"] > look["completed"] > 0
    assert life["duration"]["min"] >= 0.001
    figures = {e["figure"]: e["median"] for e in report["judgement"]["estimates"] if e["contender"] == "kept/plain"}
    assert 0 < figures["journey_rate"] < figures["throughput"]
    page = next((tmp_path / "results").glob("*/report.html")).read_text(encoding="utf-8")
    assert "life, whole" in page
    assert "life/delete" in page
    (tare,) = loaded(report, "tare")
    assert tare["counts"]["ok"] == tare["counts"]["sent"] > 0, tare["first_errors"]
    invalid = [f for f in report["judgement"]["findings"] if f["code"] in {"littles-law", "bytes-unlike-bodies"}]
    assert not invalid


LOGGED_IN = """
[loads.own]
title = "The note that was written before"
connections = 4
requests = [{ target = "/notes/{capture.own}", expect = { body = '{"id": {capture.own}, "text": "own {fresh}"}' } }]
[[loads.own.prepare]]
method = "POST"
target = "/notes"
body = '{"text":"own {fresh}"}'
expect = { status = 201 }
captures = { own = { json = "/id" } }
"""


def test_what_a_preparation_captures_is_sent_under_the_load(tmp_path: Path) -> None:
    folder = notes(tmp_path / "notes")
    with (folder / "scenario.toml").open("a", encoding="utf-8") as file:
        file.write(LOGGED_IN)
    arguments = ("--rounds", "1", "--phase", "load", "--load", "own")
    code, report = report_of(tmp_path, str(folder), *arguments)
    assert code == 0
    (result,) = loaded(report, "kept/plain")
    assert result["counts"]["ok"] == result["counts"]["sent"] > 0, result["first_errors"]
    (tare,) = loaded(report, "tare")
    assert tare["counts"]["ok"] == tare["counts"]["sent"] > 0, tare["first_errors"]
    _, whole = report_of(tmp_path, str(folder), *arguments, "--whole-windows")
    (result,) = loaded(whole, "kept/plain")
    assert result["counts"]["ok"] == result["counts"]["sent"] > 0, result["first_errors"]


def test_a_service_that_loses_notes_is_found_by_the_next_step(tmp_path: Path) -> None:
    folder = notes(tmp_path / "notes", FORGETS="1")
    code, report = report_of(tmp_path, str(folder), "--rounds", "1", "--phase", "load")
    assert code == 4
    (result,) = loaded(report, "kept/plain")
    assert result["journeys"][0]["failed"] == result["counts"]["errors"]["wrong_status"] > 0
    assert {error["request"] for error in result["first_errors"]} == {"life/read"}
    assert "errors-above-allowance" in {finding["code"] for finding in report["judgement"]["findings"]}


def test_a_name_that_nothing_captures_is_told_with_its_line(tmp_path: Path) -> None:
    folder = notes(tmp_path / "notes")
    file = folder / "scenario.toml"
    file.write_text(SCENARIO.replace('{capture.id}"\nthink_s', '{capture.number}"\nthink_s'))
    done = touchstone(tmp_path, "check", str(folder))
    said = done.stdout + done.stderr
    assert done.returncode == 2
    line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if "capture.number" in text)
    for part in (f"scenario.toml:{line}", "{capture.number}: no earlier step captures it", "captured is id"):
        assert part in said


def test_rows_and_keys_are_sent_by_hand(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"name": "a b"}) + "\n", encoding="utf-8")
    done = touchstone(tmp_path, "load", "--rows", "rows.jsonl", "http://127.0.0.1:9/{row.nmae}")
    assert done.returncode == 2
    assert "{row.nmae}: the rows have no such column; there are name" in done.stderr
