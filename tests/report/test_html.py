from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.report.fixture import ABSENT, EXHIBIT, SOUND, make_judgement, make_run
from touchstone.judge.judgement import Judgement, Verdict
from touchstone.record.run import Run
from touchstone.report import html
from touchstone.report.view import View
from touchstone.vocabulary.figure import FIGURES

NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
VOID = {"meta", "br", "link", "img", "hr", "input"}


class Page(HTMLParser):
    """Collects what a test asks of a page: its tags' balance, its ids, its references, its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.misnested: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "xlink:href", "srcset", "action"):
                self.references.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.misnested.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))


@pytest.fixture(scope="module")
def source(rendered: Path) -> str:
    return (rendered / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(source: str) -> Page:
    return Page(source)


def test_nothing_in_the_page_refers_to_the_outside(source: str, page: Page) -> None:
    assert set(re.findall(r"https?://[^\"'\s<>)]+", source)) <= NAMESPACES
    assert page.references
    assert [r for r in page.references if not r.startswith("#")] == []
    assert re.findall(r"@import|url\((?!#)|<script |<link|<img|<iframe", source) == []


def test_every_reference_leads_somewhere_and_no_id_stands_twice(page: Page) -> None:
    assert len(page.ids) == len(set(page.ids))
    assert {r[1:] for r in page.references} <= set(page.ids)


def test_tags_are_balanced(page: Page) -> None:
    assert page.misnested == []
    assert page.open == []


def test_drawings_are_well_formed_and_described(source: str) -> None:
    drawings = re.findall(r"<svg.*?</svg>", source, flags=re.S)
    assert len(drawings) >= 8
    for drawing in drawings:
        root = ET.fromstring(drawing)
        names = [child.tag.rpartition("}")[2] for child in root]
        assert names[:2] == ["title", "desc"]
        assert root.attrib["role"] == "img"


def test_drawings_have_no_fixed_colour_or_font(source: str) -> None:
    drawings = "".join(re.findall(r"<svg.*?</svg>", source, flags=re.S))
    assert re.findall(r"#[0-9a-f]{6}\b", drawings) == []
    assert "DejaVu" not in drawings
    assert "var(--c1)" in drawings


def test_every_variable_that_is_used_is_defined_for_light_and_dark(source: str) -> None:
    used = set(re.findall(r"var\(--([a-z0-9-]+)", source)) - {"w", "c"}
    light, dark = source.split("@media (prefers-color-scheme: dark)")[:2]
    assert used <= set(re.findall(r"--([a-z0-9-]+):", light))
    assert used - {"sans", "mono"} <= set(re.findall(r"--([a-z0-9-]+):", dark.split(":root[data-theme")[0]))


def test_the_page_keeps_within_its_size_for_a_long_run_too() -> None:
    run = make_run(rounds=10, seconds=60, hertz=10)
    page = html.document(View(run, make_judgement(run)))
    assert len(page.encode()) <= html.LIMIT


def test_an_invalid_contender_is_shown_struck_and_stands_below_the_ranked(source: str) -> None:
    section = source.split('<section id="load-lookup"')[1].split("</section>", maxsplit=1)[0]
    body = section.split("<tbody>")[1].split("</tbody>")[0]
    rows = re.findall(r'<tr class="(\w+)".*?<span class="name">([^<]+)', body, flags=re.S)
    assert [name for _, name in rows] == ["rust/plain", "go/plain", "kotlin/jvm", EXHIBIT, ABSENT, "tare"]
    assert {name: kind for kind, name in rows}[EXHIBIT] == "invalid"
    struck = body.split(EXHIBIT)[1].split("</tr>")[0]
    assert 'class="num invalid"' in struck
    assert "k/s" in struck
    assert "faster" not in struck


def test_what_was_not_measured_says_why(page: Page) -> None:
    assert "needs native-image >= 25; install it by touchstone toolchain native-image" in page.text


def test_every_headline_comparison_is_a_sentence_in_the_summary(source: str, run: Run, judgement: Judgement) -> None:
    numbered = [c.model_copy(update={"sentence": f"sentence {i}."}) for i, c in enumerate(judgement.comparisons)]
    short = run.model_copy(update={"samples": [s for s in run.samples if s.phase == "boot"]})
    view = View(short, judgement.model_copy(update={"comparisons": numbered}))
    page = Page(html.document(view))
    wanted = [c for p in view.places for c in view.comparisons(p) if c.verdict is not Verdict.INVALID]
    wanted = [c for c in wanted if FIGURES[c.figure].headline]
    assert len(wanted) > 20
    assert [c.sentence for c in wanted if c.sentence not in page.text] == []


def test_findings_stand_in_place_and_in_the_list(source: str, page: Page) -> None:
    lookup = source.split('<section id="load-lookup"')[1].split("</section>", maxsplit=1)[0]
    assert lookup.count("errors-above-allowance") == 1
    assert lookup.count("no-steady-state") == 1
    insert = source.split('<section id="load-insert"')[1].split("</section>", maxsplit=1)[0]
    assert "no-steady-state" not in insert
    assert "Warm up for at least 8" in page.text
    assert "HTTP/1.1 500 Internal Server Error" in page.text


def test_a_broken_contract_shows_request_and_answer(page: Page) -> None:
    assert "GET /?name=%C3%A5sa" in page.text
    assert "500 <html>SQLITE</html>" in page.text


def test_what_comes_from_outside_is_escaped(run: Run, judgement: Judgement) -> None:
    evil = "<script>alert(1)</script>"
    plan = run.plan.model_copy(update={"scenario_title": evil})
    findings = [f.model_copy(update={"statement": f"`{evil}`"}) for f in judgement.findings]
    hostile = run.model_copy(update={"plan": plan, "notes": [evil]})
    page = html.document(View(hostile, judgement.model_copy(update={"findings": findings})))
    assert page.count("<script") == 1  # The page's own.
    assert evil not in page
    assert "&lt;script&gt;" in page


def test_a_section_appears_only_where_there_are_samples(run: Run, judgement: Judgement) -> None:
    only_boot = run.model_copy(update={"samples": [s for s in run.samples if s.phase == "boot"]})
    estimates = [e for e in judgement.estimates if e.phase == "boot"]
    judged = judgement.model_copy(update={"estimates": estimates, "comparisons": [], "findings": []})
    page = html.document(View(only_boot, judged))
    assert "Every start" in page
    assert "Latency by percentile" not in page
    assert 'id="summary"' not in page


def test_an_empty_run_still_makes_a_page(run: Run) -> None:
    empty = run.model_copy(update={"samples": [], "interrupted": True, "ended_at": None})
    nothing = Judgement(
        verdict=Verdict.INVALID,
        sample_verdicts={},
        findings=[],
        estimates=[],
        comparisons=[],
        margin=0.05,
        confidence=0.95,
    )
    page = Page(html.document(View(empty, nothing)))
    assert "This run is invalid." in page.text
    assert "Interrupted." in page.text


def test_an_exhibit_is_marked_and_follows_its_sound_twin(view: View) -> None:
    names = [c.name for c in view.contenders]
    assert names.index(EXHIBIT) == names.index("kotlin/jvm") + 1
    assert {*names} == {*SOUND, EXHIBIT, ABSENT}


def test_the_same_run_makes_the_same_page(run: Run, judgement: Judgement) -> None:
    short = run.model_copy(update={"samples": [s for s in run.samples if s.round == 1]})
    assert html.document(View(short, judgement)) == html.document(View(short, judgement))


@pytest.mark.parametrize(
    ("anchor", "words"),
    [
        ("hold-idle", "Memory against connections"),
        ("drain-all", "kotlin/jvm-leak: at most 3 lost in a round."),
        ("floor-all", "Rate against memory limit"),
        ("conformance", "A request without Host is answered 400."),
    ],
)
def test_each_phase_has_its_own_plot(source: str, anchor: str, words: str) -> None:
    assert words in source.split(f'<section id="{anchor}"')[1].split("</section>", maxsplit=1)[0]


def test_a_phase_without_its_evidence_keeps_its_figures(run: Run, judgement: Judgement) -> None:
    held = [s.model_copy(update={"evidence": None}) for s in run.samples if s.phase == "hold"]
    estimates = [e for e in judgement.estimates if e.phase == "hold"]
    judged = judgement.model_copy(update={"estimates": estimates, "comparisons": [], "findings": []})
    page = html.document(View(run.model_copy(update={"samples": held}), judged))
    assert "Memory against connections" not in page
    assert "RSS per connection" in page


def test_an_exhibit_is_compared_with_its_twin_and_is_no_baseline(view: View) -> None:
    assert [c.name for c in view.contenders if view.is_baseline(c)] == ["go/plain"]
    boot = next(p for p in view.places if p.phase == "boot")
    pairs = {(c.contender, c.baseline) for c in view.comparisons(boot)}
    assert pairs == {("rust/plain", "go/plain"), ("kotlin/jvm", "go/plain"), (EXHIBIT, "kotlin/jvm")}
