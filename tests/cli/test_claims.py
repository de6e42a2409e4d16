"""`touchstone claims` and `touchstone report --format article`, as a user types them."""

from __future__ import annotations

import json
import re
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.test_commands import stored, touchstone
from tests.judge.sound import sound_run
from tests.run.demo import add_stack, demo
from tests.run.test_end_to_end import touchstone as touchstone_with_cache

OWN = """
schema = 1
name = "mine"
title = "My service keeps its promises"
summary = "What we tell our users."
scenario = "{scenario}"
own = true

[[claims]]
id = "M1"
says = "It answers more than {rate} requests per second."
figure = "throughput"
load = "{load}"
test = {{ kind = "value", of = ["{contender}"], at_least = {rate}, unit = "/s" }}
published = [{{ what = "promise", value = {rate}, unit = "/s" }}]
"""


def own(folder: Path, rate: float, *, scenario: str = "users", load: str = "lookup", contender: str = "go/std") -> Path:
    path = folder / "mine.toml"
    path.write_text(OWN.format(scenario=scenario, rate=rate, load=load, contender=contender))
    return path


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    stored(sound_run(), tmp_path / "results" / "20260101-000000-users")
    return tmp_path


def rulings(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return {c["id"]: c["ruling"] for file in json.loads(done.stdout) for c in file["claims"]}


def test_the_labs_claims_are_listed_with_their_verdicts(run_folder: Path) -> None:
    done = touchstone(run_folder, "claims")
    assert done.returncode == 0, done.stderr
    for text in ("A01", "B24", "C28", "D12", "25 statements", "not testable"):
        assert text in done.stdout
    for name in ("index", "a-users", "b-relay", "c-crud", "d-hello"):
        page = (run_folder / "results" / "claims" / f"{name}.html").read_text()
        assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
        assert "<script src" not in page


def test_the_front_page_keeps_the_articles_that_are_not_asked_for(run_folder: Path) -> None:
    pages = run_folder / "results" / "claims"
    assert touchstone(run_folder, "claims", "b").returncode == 0
    front = (pages / "index.html").read_text()
    assert "b-relay.html" in front
    assert "a-users.html" not in front
    assert touchstone(run_folder, "claims", "a").returncode == 0
    front = (pages / "index.html").read_text()
    assert front.index("a-users.html") < front.index("b-relay.html")


def test_the_front_page_keeps_the_verdicts_whose_runs_are_gone(run_folder: Path) -> None:
    pages = run_folder / "results" / "claims"
    assert touchstone(run_folder, "claims", "a").returncode == 0
    verdicts = pages / "a-users.json"
    found = json.loads(verdicts.read_text())
    found["claims"][0]["ruling"] = "holds"
    verdicts.write_text(json.dumps(found))
    assert touchstone(run_folder, "claims", "d").returncode == 0
    assert re.search(r'a-users.html#A01" title="[^"]*\(holds\)', (pages / "index.html").read_text())
    assert json.loads(verdicts.read_text()) == found


def test_a_claim_of_ones_own_is_a_gate(run_folder: Path) -> None:
    kept = touchstone(run_folder, "claims", str(own(run_folder, 15000.0)), "--gate")
    assert kept.returncode == 0, kept.stderr
    assert "holds" in kept.stdout
    broken = own(run_folder, 50000.0)
    assert touchstone(run_folder, "claims", str(broken)).returncode == 0
    assert touchstone(run_folder, "claims", str(broken), "--gate").returncode == 3


def test_a_gate_is_not_passed_by_what_is_not_decided(run_folder: Path) -> None:
    unclear = own(run_folder, 20000.0)
    done = touchstone(run_folder, "claims", str(unclear), "--gate")
    assert done.returncode == 5, "as every gate that cannot be decided"
    assert "gate: M1 undecided" in done.stderr
    assert touchstone(run_folder, "claims", str(unclear), "--gate", "--allow-undecided").returncode == 0
    absent = own(run_folder, 15000.0, contender="go/none")
    done = touchstone(run_folder, "claims", str(absent), "--gate", "--allow-undecided")
    assert done.returncode == 4
    assert "M1: Scenario users has no contender go/none" in done.stdout, "why there is no number"
    assert touchstone(run_folder, "claims", str(unclear), "--allow-undecided").returncode == 2


def test_a_load_that_the_scenario_has_not_is_a_slip_and_no_missing_run(run_folder: Path) -> None:
    done = touchstone(run_folder, "claims", str(own(run_folder, 15000.0, load="lokup")), "--gate")
    assert done.returncode == 2
    assert "claims[M1]: scenario users has no load 'lokup': did you mean 'lookup'?" in done.stderr.replace("\n", " ")


def test_a_suspect_measurement_is_no_success(run_folder: Path) -> None:
    run = sound_run()
    for sample in run.samples:
        if sample.contender == "go/std" and sample.result:
            sample.result.generator.stands = False
            sample.result.generator.reasons = ["the generator waited for a CPU"]
    run.plan.run_id = "20270101-000000-users"
    stored(run, run_folder / "results" / "20270101-000000-users")
    path = own(run_folder, 100_000.0)
    words = ("claims", str(path), "--from", "20270101-000000-users", "--gate")
    assert touchstone(run_folder, *words).returncode == 5
    assert touchstone(run_folder, *words, "--accept-suspect").returncode == 3


def test_a_gate_over_nobodys_own_claims_is_refused(run_folder: Path) -> None:
    path = own(run_folder, 50000.0)
    path.write_text(path.read_text().replace("own = true", ""))
    done = touchstone(run_folder, "claims", str(path), "--gate")
    assert done.returncode == 2
    assert "own = true" in done.stderr
    told = touchstone(run_folder, "claims", str(path))
    assert told.returncode == 0
    assert "contradicted" in told.stdout


def test_only_the_runs_that_are_named_count(run_folder: Path) -> None:
    slow = sound_run(contenders={"go/std": 5000.0, "rust/std": 26000.0})
    slow.plan.run_id = "20270101-000000-users"
    stored(slow, run_folder / "results" / "20270101-000000-users")
    path = str(own(run_folder, 15000.0))
    first = touchstone(run_folder, "claims", path, "--from", "20260101-000000-users", "--json")
    assert rulings(first) == {"M1": "holds"}
    second = touchstone(run_folder, "claims", path, "--from", "20270101-000000-users", "--json")
    assert rulings(second) == {"M1": "contradicted"}
    assert touchstone(run_folder, "claims", path, "--from", "nothing").returncode == 2


def test_a_verdict_is_explained_down_to_its_samples(run_folder: Path) -> None:
    told = touchstone(run_folder, "claims", str(own(run_folder, 15000.0)), "--explain", "m1").stdout
    for text in ("M1", "holds", "published: promise: 15,000 /s", "throughput of go/std", "load-lookup-go.std-1"):
        assert text in told
    assert touchstone(run_folder, "claims", str(own(run_folder, 1.0)), "--explain", "Z9").returncode == 2


def test_a_claim_that_does_not_fit_is_refused_with_a_fix(run_folder: Path) -> None:
    path = own(run_folder, 1.0)
    path.write_text(path.read_text().replace('figure = "throughput"', 'figure = "throughputt"'))
    done = touchstone(run_folder, "claims", str(path))
    assert done.returncode == 2
    assert "did you mean 'throughput'" in done.stderr
    assert "docs/claims.md" in done.stderr


def test_unknown_claims_and_contradictory_options_are_refused(run_folder: Path) -> None:
    assert "a-users" in touchstone(run_folder, "claims", "Z").stderr
    assert touchstone(run_folder, "claims", "A", "--run", "--from", "last").returncode == 2
    assert touchstone(run_folder, "claims", "A", "--minutes", "5").returncode == 2


def test_what_is_missing_is_measured_once_and_not_again(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    add_stack(folder, "old", version=">=99")
    path = own(tmp_path, 10.0, scenario="demo", load="ping", contender="sound/plain")
    second = path.read_text().split("[[claims]]")[1].replace("M1", "M2").replace("sound/plain", "old/plain")
    path.write_text(path.read_text() + "[[claims]]" + second)
    words = ("claims", str(path), "--run", "--quick", "--rounds", "3", "--json")
    first = touchstone_with_cache(tmp_path, *words)
    assert first.returncode == 0, first.stderr
    found = {c["id"]: c for file in json.loads(first.stdout) for c in file["claims"]}
    assert found["M1"]["measurements"][0]["value"] > 10
    assert found["M2"]["ruling"] == "not measured"
    assert "python3 >=99" in found["M2"]["reason"]
    state = json.loads((tmp_path / "results" / "claims.json").read_text())
    assert {step["state"] for step in state["steps"].values()} == {"done"}
    runs = sorted((tmp_path / "results").glob("*-demo"))
    assert touchstone_with_cache(tmp_path, *words).returncode == 0
    assert sorted((tmp_path / "results").glob("*-demo")) == runs
    state["steps"]["demo ping"]["state"] = "interrupted"
    (tmp_path / "results" / "claims.json").write_text(json.dumps(state))
    again = touchstone_with_cache(tmp_path, *words)
    assert again.returncode == 0
    measured_again = len(list((tmp_path / "results").glob("*-demo"))) - len(runs)
    suspect = json.loads(again.stdout)[0]["claims"][0]["measurements"][0]["suspect"] is not None
    assert measured_again == 1 or not suspect


def test_minutes_are_spent_on_what_is_undecided_and_the_rest_says_what_it_lacks(tmp_path: Path) -> None:
    demo(tmp_path / "demo")
    path = own(tmp_path, 10.0, scenario="demo", load="ping", contender="sound/plain")
    words = ("claims", str(path), "--run", "--quick", "--rounds", "3")
    value = json.loads(touchstone_with_cache(tmp_path, *words, "--json").stdout)[0]["claims"][0]["measurements"][0]
    own(tmp_path, round(value["value"]), scenario="demo", load="ping", contender="sound/plain")
    runs = len(list((tmp_path / "results").glob("*-demo")))
    done = touchstone_with_cache(tmp_path, *words, "--minutes", "1.1")
    assert done.returncode == 0, done.stderr
    assert "for M1" in done.stdout
    assert len(list((tmp_path / "results").glob("*-demo"))) > runs
    assert "What would decide the rest" in done.stdout or "undecided" not in done.stdout


def test_a_form_that_does_not_exist_is_refused_with_those_that_do(run_folder: Path) -> None:
    done = touchstone(run_folder, "report", "last", "--format", "htm")
    assert done.returncode == 2
    assert "there is no form 'htm'" in done.stderr
    assert "html, markdown, csv, json, article" in " ".join(done.stderr.split())


def test_an_article_is_drafted_with_tables_verdicts_and_plots(run_folder: Path) -> None:
    done = touchstone(run_folder, "report", "last", "--format", "article", "--out", "post")
    assert done.returncode == 0, done.stderr
    assert not (run_folder / "post" / "report.html").exists()
    post = (run_folder / "post" / "post.md").read_text()
    for text in ("## How it was measured", "| contender |", "go/std", "## To repeat it", "some CPU"):
        assert text in post
    drawn = re.findall(r"\]\(([^)]+\.svg)\)", post)
    assert drawn
    assert sorted(drawn) == sorted(path.name for path in (run_folder / "post").glob("*.svg"))
    for name in drawn:
        root = ET.parse(run_folder / "post" / name).getroot()
        assert root.tag.endswith("svg")
        assert root.get("width")
