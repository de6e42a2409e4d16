from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from tests.golden.golden import RUNS, judged, recorded_run
from tests.report.fixture import ABSENT, EXHIBIT
from touchstone.judge.judgement import FailedContender, Judgement, Verdict
from touchstone.record.run import Run
from touchstone.report import FirstTable, print_report
from touchstone.report.article import render_article
from touchstone.report.markdown import document
from touchstone.report.view import View


def _printed(
    run: Run, judgement: Judgement, *, terminal: bool, width: int = 110, lines: bool = False, details: bool = True
) -> str:
    out = io.StringIO()
    print_report(
        Console(file=out, force_terminal=terminal, width=width), View(run, judgement), lines=lines, details=details
    )
    return out.getvalue()


def test_the_first_screen_has_the_answer_the_leading_figures_and_three_findings() -> None:
    text = _printed(recorded_run("hello"), judged("hello"), terminal=False, width=100, details=False)
    assert re.search(r"\n100 connections +Throughput +Latency p99 +CPU per request", text)
    assert re.search(r"rust-hyper/plain +130 k/s +1\.31\S ~", text)
    assert text.count("next: ") == 3
    assert "5 more findings: see the details" in text
    assert "touchstone show 20261122-023617-hello --details" in text


@pytest.mark.parametrize("name", RUNS)
def test_the_tables_of_the_first_screen_fit_100_columns(name: str) -> None:
    text = _printed(recorded_run(name), judged(name), terminal=True, width=100, details=False)
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in text.splitlines()]
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 60
    assert not any("\N{HORIZONTAL ELLIPSIS}" in line for line in lines)


def test_a_terminal_gets_tables_with_medians_and_intervals(run: Run, judgement: Judgement) -> None:
    text = _printed(run, judgement, terminal=True)
    assert "\x1b[" in text
    assert "Look up an existing name" in text
    assert "17.2\N{EN DASH}17.7" in text
    assert "not measured" in text


def test_a_narrow_terminal_breaks_no_number(run: Run, judgement: Judgement) -> None:
    lines = _printed(run, judgement, terminal=True, width=80).splitlines()
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    assert max(len(line) for line in plain) <= 80
    assert any("17.2\N{EN DASH}17.7" in line for line in plain)
    assert any("Throughput" in line for line in plain)
    assert not any("\N{HORIZONTAL ELLIPSIS}" in line for line in plain)


def test_rounds_are_told_of_a_run_whose_phases_have_them(run: Run, judgement: Judgement) -> None:
    assert "\N{MIDDLE DOT} 5 rounds \N{MIDDLE DOT}" in _printed(run, judgement, terminal=False)
    verified = run.model_copy(update={"plan": run.plan.model_copy(update={"phases": ["build", "verify"]})})
    assert "\N{MIDDLE DOT} 5 rounds \N{MIDDLE DOT}" not in _printed(verified, judgement, terminal=False)


def test_no_color_is_obeyed(run: Run, judgement: Judgement, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = _printed(run, judgement, terminal=True)
    assert not any(f"\x1b[{code}m" in text for code in range(30, 48))


def test_a_log_gets_the_same_tables_without_colour(run: Run, judgement: Judgement) -> None:
    log = _printed(run, judgement, terminal=False)
    terminal = re.sub(r"\x1b\[[0-9;]*m", "", _printed(run, judgement, terminal=True))
    assert "\x1b" not in log
    tables = {line.rstrip() for line in terminal.splitlines() if "k/s" in line or "17.2\N{EN DASH}17.7" in line}
    assert len(tables) > 1
    assert tables <= {line.rstrip() for line in log.splitlines()}


def test_sentences_in_a_log_are_not_wrapped(run: Run, judgement: Judgement) -> None:
    lines = _printed(run, judgement, terminal=False, width=60).splitlines()
    assert any(judgement.findings[0].statement in line for line in lines)


def test_lines_are_one_a_figure_and_not_wrapped(run: Run, judgement: Judgement) -> None:
    lines = _printed(run, judgement, terminal=False, width=40, lines=True).splitlines()
    assert not any("\x1b" in line for line in lines)
    assert "Look up an existing name: rust/plain: Throughput: 17.5 k/s [17.2 to 17.7], 1.47× faster" in lines  # noqa: RUF001
    assert any(line.startswith(f"not measured: {ABSENT}: needs native-image >= 25") for line in lines)
    assert any(f"{EXHIBIT}: Throughput:" in line and "invalid" in line for line in lines)


def test_each_finding_says_what_to_do_next(run: Run, judgement: Judgement) -> None:
    lines = _printed(run, judgement, terminal=False, lines=True).splitlines()
    findings = [i for i, line in enumerate(lines) if line.startswith("finding:")]
    assert len(findings) == 3
    assert all(lines[i + 1].startswith("  next: ") for i in findings)
    # The invalid one is an exhibit's, which is wrong on purpose: it costs the reader less than a doubt of a sound one.
    assert lines[findings[0]].startswith("finding: suspect no-steady-state")
    assert lines[findings[1]].startswith("finding: invalid errors-above-allowance")
    assert "5 samples" in lines[findings[1]]


def test_the_same_advice_is_given_once(run: Run, judgement: Judgement) -> None:
    finding = judgement.findings[0]
    spread = [finding.model_copy(update={"contender": name, "sample": None}) for name in ("go/plain", "rust/plain")]
    text = _printed(run, judgement.model_copy(update={"findings": spread}), terminal=False)
    assert "go/plain, rust/plain" in text
    assert finding.statement in text
    assert text.count(finding.next_step) == 1


def test_where_all_is_invalid_the_numbers_still_have_a_readable_unit(run: Run, judgement: Judgement) -> None:
    alone = [e for e in judgement.estimates if e.contender == EXHIBIT and e.phase == "load"]
    text = _printed(
        run, judgement.model_copy(update={"estimates": alone, "comparisons": []}), terminal=False, lines=True
    )
    assert f"{EXHIBIT}: RSS, peak under load: 918 MiB, invalid" in text


def test_comparisons_are_the_judges_sentences(run: Run, judgement: Judgement) -> None:
    said = "Rust answered 1.5 times as many requests as Go."
    comparisons = [c.model_copy(update={"sentence": said}) for c in judgement.comparisons]
    text = _printed(run, judgement.model_copy(update={"comparisons": comparisons}), terminal=False)
    assert said in text
    assert "95 % interval" not in text


def test_markup_in_names_is_not_obeyed(run: Run, judgement: Judgement) -> None:
    plan = run.plan.model_copy(update={"scenario_title": "[red]users[/red]"})
    odd = run.model_copy(update={"plan": plan})
    assert "[red]users[/red]" in _printed(odd, judgement, terminal=False)
    assert "[red]users[/red]" in _printed(odd, judgement, terminal=True)


def test_what_a_run_says_of_itself_is_in_every_report_of_it(run: Run, judgement: Judgement, tmp_path: Path) -> None:
    """Two revisions are the contenders base and head, and the notes name their commits."""
    notes = ["base is v1.4 (1a2b3c4d5e, Faster parser)", "interrupted: the report shows what was measured until then"]
    run = run.model_copy(update={"notes": notes})
    article, *_ = render_article(View(run, judgement), [], tmp_path)
    for text in (_printed(run, judgement, terminal=False), document(View(run, judgement)), article.read_text()):
        assert "base is v1.4 (1a2b3c4d5e, Faster parser)" in text
        assert "interrupted: the report" not in text


def test_an_invalid_run_without_findings_says_why_it_is_invalid(run: Run, judgement: Judgement) -> None:
    failed = [FailedContender(contender="go/plain", reason="boot: it did not start")]
    nothing = {"verdict": Verdict.INVALID, "findings": [], "estimates": [], "comparisons": []}
    text = _printed(run, judgement.model_copy(update=nothing | {"failed": failed}), terminal=False)
    assert "This run is invalid: no contender was measured to the end." in text
    assert "go/plain failed: boot: it did not start" in text
    assert "No findings" not in text
    assert "see the findings" not in text


def _first(samples: int, *runs: Run) -> str:
    """What is printed of runs that go on, by the number of their rounds."""
    out = io.StringIO()
    table = FirstTable(Console(file=out, width=100))
    for run in runs:
        table(run.model_copy(update={"samples": [s for s in run.samples if (s.round or 0) <= samples]}))
    return out.getvalue()


def test_a_run_that_goes_on_prints_its_first_table_once_something_is_decided() -> None:
    run = recorded_run("users")
    assert _first(1, run) == ""
    text = _first(2, run, run)
    assert text.count("So far, after 2 of 5 rounds:") == 1
    assert re.search(r"\nLookup of one name +Throughput +Latency p99", text)
    assert "▲" in text or "▼" in text
    assert "next:" not in text
