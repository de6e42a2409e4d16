"""A figure and a phase that are declared are known everywhere: judged, described in sentences, shown in every
report."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from tests.judge.sound import sound_run
from touchstone.judge.judge import judge
from touchstone.record.run import Run
from touchstone.record.sample import TARE
from touchstone.report import print_report, render
from touchstone.report.view import View
from touchstone.vocabulary.figure import FIGURES, Better, CountWords, Figure, Unit
from touchstone.vocabulary.phase import PHASES, PhaseKind, PhaseSchedule, PhaseSubject

SPIN = PhaseKind("spin", "Spinning in place", PhaseSubject.LIMITS, PhaseSchedule.EACH_ROUND)
TURNS = Figure(
    "spin_turns", "Turns of the wheel", Unit.PER_SECOND, Better.HIGHER, "spin", headline=True, leads=True,
    counted=CountWords("spins", "turns a second", "fewer", "more"),
)  # fmt: skip
CONCEPTS = Path(__file__).parents[2] / "docs/concepts.md"


def test_the_glossary_lists_every_phase_in_order_and_marks_those_of_a_plain_run() -> None:
    table = CONCEPTS.read_text(encoding="utf-8").partition("\n## Phases\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)`( \*)? \|", table, re.MULTILINE)
    assert [(name, bool(star)) for name, star in rows] == [(name, PHASES[name].by_default) for name in PHASES]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setitem(PHASES, SPIN.name, SPIN)
    monkeypatch.setitem(FIGURES, TURNS.name, TURNS)
    run = sound_run()
    loads = [sample for sample in run.samples if sample.phase == "load" and sample.contender != TARE]
    names = sorted({sample.contender for sample in loads})
    for sample in loads:
        quick = 2.0 if sample.contender == names[0] else 1.0
        turns = 1000.0 * quick * (1 + (sample.round or 0) / 1000)
        spun: dict[str, object] = {"id": f"{sample.id}-spin", "phase": "spin", "load": None, "evidence": None}
        spun["figures"] = {"spin_turns": turns}
        run.samples.append(sample.model_copy(update=spun))
    return run


def test_a_new_figure_of_a_new_phase_is_in_every_report(run: Run, tmp_path: Path) -> None:
    judgement = judge(run)
    told = io.StringIO()
    print_report(Console(file=told, width=160), View(run, judgement), details=True)
    texts = {path.name: path.read_text(encoding="utf-8") for path in render(View(run, judgement), tmp_path)}
    for text in (told.getvalue(), texts["report.html"], texts["report.md"]):
        assert "Spinning in place" in text
        assert "Turns of the wheel" in text
    assert "spin_turns" in texts["report.csv"]
    assert "spin_turns" in texts["report.json"]
    sentences = [c.sentence for c in judgement.comparisons if c.figure == "spin_turns"]
    assert any("turns a second than" in sentence for sentence in sentences), sentences
