"""Which runs would decide what is undecided, and in which order."""

from __future__ import annotations

from tests.judge.claims.case import warm
from tests.judge.sound import sound_run
from touchstone.judge.claims.evidence import Evidence, RunWithJudgement
from touchstone.judge.claims.judge import judge_claims
from touchstone.judge.claims.ruling import Ruling
from touchstone.judge.claims.wanted import UndecidedRun, open_steps
from touchstone.judge.judge import judge
from touchstone.manifest.claim import ClaimsFile


def claim(name: str, least: float, figure: str = "throughput", load: str | None = "lookup") -> dict[str, object]:
    """go/std serves 20,000 requests per second: a bound of as much stays open, one far from it does not."""
    test = {"kind": "value", "of": ["go/std"], "at_least": least, "unit": "/s" if figure == "throughput" else "s"}
    return {"id": name, "says": "It is so.", "figure": figure, "load": load, "test": test}


def still_open(*wanted: dict[str, object]) -> tuple[list[UndecidedRun], dict[str, Ruling]]:
    file = ClaimsFile.model_validate(
        {"schema": 1, "name": "m", "title": "M", "summary": "M", "scenario": "users", "claims": list(wanted)}
    )
    run = warm(sound_run())
    judged = [RunWithJudgement(run, judge(run))]
    ruling = judge_claims(file, judged)
    return open_steps([file], [ruling], Evidence(judged)), {one.id: one.ruling for one in ruling.claims}


def test_only_what_is_measured_and_undecided_is_measured_again() -> None:
    found, rulings = still_open(claim("A", 20_000.0), claim("B", 10_000.0), claim("C", 90_000.0))
    assert rulings == {"A": Ruling.UNDECIDED, "B": Ruling.HOLDS, "C": Ruling.CONTRADICTED}
    assert [(one.step.name, one.step.contenders, one.claims) for one in found] == [
        ("users lookup", ("go/std",), ("A",))
    ]


def test_the_run_that_may_decide_most_comes_first() -> None:
    boot = claim("A", 0.02, "boot_first_response", None)
    found, rulings = still_open(boot, claim("B", 20_000.0), claim("C", 20_010.0))
    assert set(rulings.values()) == {Ruling.UNDECIDED}
    assert [one.claims for one in found] == [("B", "C"), ("A",)]


def test_an_undecided_build_is_built_again() -> None:
    build = claim("A", 15.0, "build_cold", None)
    found, rulings = still_open(build, claim("B", 20_000.0))
    assert set(rulings.values()) == {Ruling.UNDECIDED}
    assert {one.step.name: one.step.builds_again for one in found} == {"users build": True, "users lookup": False}


def test_nothing_is_open_where_all_is_decided() -> None:
    assert still_open(claim("B", 10_000.0))[0] == []
