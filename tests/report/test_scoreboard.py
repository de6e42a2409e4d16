from __future__ import annotations

import re

from tests.report.fixture import ABSENT, EXHIBIT
from touchstone.judge.judgement import Comparison, Finding, Judgement, Outcome, Severity
from touchstone.judge.rules.table import RULES
from touchstone.record.run import Run
from touchstone.report.answer import answer
from touchstone.report.html import document as page
from touchstone.report.markdown import document as markdown
from touchstone.report.scoreboard import AT_LEAST, GROWING, LEAST, about_groups, group_note, scoreboard
from touchstone.report.view import View


def _groups(view: View) -> dict[str, str]:
    board = scoreboard(view)
    assert board is not None
    return {scored.row.name: group_note(scored) for scored in board.rows}


def _warming(contender: str) -> Finding:
    return Finding(
        code="still-warming-up",
        severity=Severity.SUSPECT,
        statement="it still rose",
        next_step="warm up",
        contender=contender,
        load="lookup",
    )


def test_contenders_stand_in_groups(view: View) -> None:
    assert list(_groups(view).items()) == [
        ("rust/plain", "ahead"),
        ("go/plain", "baseline"),
        ("kotlin/jvm", "behind"),
        (EXHIBIT, "exhibit"),
        (ABSENT, "not measured"),
    ]


def test_the_main_load_leads_and_what_it_takes_to_start_stands_last(view: View) -> None:
    board = scoreboard(view)
    assert board is not None
    names = [column.figure.name for column in board.columns]
    assert names[0] == "throughput"
    assert set(names[-2:]) == {"artifact_bytes", "boot_first_response"}
    assert "build_cold" not in names
    assert len(set(zip(names, board.heads, strict=True))) == len(names)


def test_the_answer_says_who_leads_by_how_much_and_the_memory(view: View) -> None:
    said = answer(view)
    assert 1 <= len(said) <= 3
    assert said[0].startswith(
        "Look up an existing name: rust/plain answers 47 % more requests per second than go/plain"
    )
    assert "kotlin/jvm answers" in said[0]
    assert said[1].startswith("Peak RSS under load, as a multiple of go/plain's: rust/plain 0.41")


def test_what_is_level_is_called_level(run: Run, judgement: Judgement) -> None:
    def level(c: Comparison) -> Comparison:
        return c.model_copy(update={"ratio": 1.01, "outcome": Outcome.EQUIVALENT, "better": None})

    comparisons = [level(c) if c.contender == "rust/plain" else c for c in judgement.comparisons]
    changed = View(run, judgement.model_copy(update={"comparisons": comparisons}))
    assert "rust/plain is level with go/plain" in answer(changed)[0]
    assert _groups(changed)["rust/plain"] == "level"


def test_who_still_warms_up_has_a_bound_and_no_size(run: Run, judgement: Judgement) -> None:
    findings = [*judgement.findings, _warming("rust/plain")]
    changed = View(run, judgement.model_copy(update={"findings": findings}))
    assert "rust/plain answers at least 47 % more" in answer(changed)[0]
    board = scoreboard(changed)
    assert board is not None
    lead = {scored.row.name: scored.row.cells[0].text for scored in board.rows}
    assert lead["rust/plain"].startswith(AT_LEAST)
    assert not lead["go/plain"].startswith(AT_LEAST)


def test_who_could_not_be_offered_enough_is_not_said_to_warm_up(run: Run, judgement: Judgement) -> None:
    beyond = _warming("rust/plain").model_copy(update={"code": "capacity-beyond-generator"})
    changed = View(run, judgement.model_copy(update={"findings": [*judgement.findings, beyond]}))
    assert "rust/plain answers at least 47 % more" in answer(changed)[0]
    assert "(it was not brought to its limit)" in answer(changed)[0]
    assert "warming" not in answer(changed)[0]


def test_memory_that_still_grew_has_a_bound_and_is_named(run: Run, judgement: Judgement) -> None:
    growing = _warming("go/plain").model_copy(update={"code": GROWING, "severity": Severity.NOTE})
    others = [f for f in judgement.findings if f.code != GROWING]
    changed = View(run, judgement.model_copy(update={"findings": [*others, growing]}))
    assert answer(changed)[1].endswith(
        " The memory of go/plain still grew when the load ended, so the shown value is a lower bound."
    )
    board = scoreboard(changed)
    assert board is not None
    memory = next(i for i, column in enumerate(board.columns) if column.figure.name == "rss_peak")
    bounds = {scored.row.name for scored in board.rows if scored.row.cells[memory].text.startswith(AT_LEAST)}
    assert bounds == {"go/plain"}


def test_a_round_that_was_left_out_for_it_makes_no_bound(run: Run, judgement: Judgement) -> None:
    cold = _warming("rust/plain").model_copy(update={"sample": "left-out"})
    changed = View(run, judgement.model_copy(update={"findings": [*judgement.findings, cold]}))
    assert "rust/plain answers 47 % more" in answer(changed)[0]


def test_who_waits_for_acknowledgements_is_named_with_the_time(run: Run, judgement: Judgement) -> None:
    waiting = _warming("go/plain").model_copy(
        update={"code": "waits-for-acknowledgement", "severity": Severity.NOTE, "evidence": {"wait_s": 0.0412}}
    )
    changed = View(run, judgement.model_copy(update={"findings": [*judgement.findings, waiting]}))
    assert "; go/plain waits 41.2 ms for an acknowledgement within a response." in answer(changed)[0]


def test_what_rises_is_named_by_rules_that_exist() -> None:
    assert {*LEAST, GROWING} <= RULES.keys()


def test_the_doubt_that_weighs_most_is_not_that_of_an_exhibit(view: View) -> None:
    assert answer(view)[-1].startswith("Biggest caveat (kotlin/jvm): Throughput still rose by 6.1 %")


def test_an_interval_that_doubts_widened_is_shown_as_such(run: Run, judgement: Judgement) -> None:
    wide = {"low": 1.1, "high": 1.9, "sampled_low": 1.4, "sampled_high": 1.5, "laps": 30}
    comparisons = [c.model_copy(update=wide) for c in judgement.comparisons]
    text = page(View(run, judgement.model_copy(update={"comparisons": comparisons})))
    assert "1.10\N{MULTIPLICATION SIGN} to 1.90\N{MULTIPLICATION SIGN} with possible biases, 1.40" in text
    assert "with 30 laps" in text


def test_the_answer_opens_page_and_markdown(view: View) -> None:
    text, html = markdown(view), page(view)
    assert text.index("more requests per second") < text.index("| contender |") < text.index("## Findings")
    assert text.index("## Findings") < text.index("## Build and start")
    assert html.index('id="answer"') < html.index('id="findings"') < html.index('id="start"')


def test_a_contender_alone_stands_in_no_group(run: Run, judgement: Judgement) -> None:
    plan = run.plan.model_copy(update={"contenders": run.plan.contenders[:1], "baseline": None})
    alone = View(run.model_copy(update={"plan": plan}), judgement.model_copy(update={"comparisons": []}))
    assert set(_groups(alone).values()) == {""}
    board = scoreboard(alone)
    assert board is not None
    assert "groups" not in about_groups(alone, board)
    said = answer(alone)[0]
    assert "nothing to compare" not in said
    assert run.plan.contenders[0].name in said
    assert re.search(r"throughput [\d.,]+ k?/s, latency p99 [\d.,]+ (ms|µs)", said)
