"""What is known of a service before anything is timed: its contract, and what the loads ask for."""

from __future__ import annotations

from pathlib import Path

from tests.run.demo import SERVER, demo
from tests.run.test_end_to_end import report_of

TAKEN = """
[[contract]]
id = "taken"
says = "what is taken is gone"
steps = [{ target = "/take", expect = { body = "taken" } }, { target = "/thing", expect = { status = 404 } }]
"""
TAKES = """
    if path == "/take":
        names.add(path)
        return 200, b"taken"
    if path == "/thing" and not names:
        return 200, b"pong"
"""
LOADED = 'name = "ping", target = "/ping"'


def test_a_path_that_a_load_has_wrong_is_told_before_anything_is_timed(tmp_path: Path) -> None:
    file = demo(tmp_path / "demo") / "scenario.toml"
    file.write_text(file.read_text().replace(LOADED, 'name = "ping", target = "/pong"'))
    code, report = report_of(tmp_path, "demo", "--quick", "--rounds", "1", "--phase", "boot", "--phase", "load")
    assert code == 4
    (finding,) = [f for f in report["judgement"]["findings"] if f["severity"] == "invalid"]
    assert finding["code"] == "contract-broken"
    assert "'load-ping'" in finding["statement"]
    assert "GET /pong" in finding["statement"]
    assert {s["phase"] for s in report["run"]["samples"] if s["contender"] != "tare"} <= {"build", "verify"}


def test_what_a_check_takes_away_is_there_for_the_loads(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    file = folder / "scenario.toml"
    file.write_text(
        file.read_text().replace(LOADED, 'name = "ping", target = "/thing"').replace("[loads", TAKEN + "[loads")
    )
    answered = '    if path in ("/late", "/ping"):'
    assert answered in SERVER
    (folder / "sound" / "server.py").write_text(SERVER.replace(answered, TAKES.lstrip("\n") + answered))
    code, report = report_of(tmp_path, "demo", "--phase", "verify")
    assert code == 0
    (sample,) = [s for s in report["run"]["samples"] if s["phase"] == "verify"]
    assert [check["id"] for check in sample["checks"] if check["passed"]] == [
        "ping",
        "unknown-path",
        "taken",
        "load-ping",
    ]
