"""Conformance in reports: counted by requirement and risk, the dangerous first, folded."""

from __future__ import annotations

from html.parser import HTMLParser

from touchstone.report import html, markdown
from touchstone.report.conformance import conformance
from touchstone.report.view import View


def _section(page: str) -> str:
    return page.split('<section id="conformance"')[1].split("</section>", maxsplit=1)[0]


def test_a_requirement_counts_once_under_its_risk(view: View) -> None:
    found = conformance(view)
    assert found is not None
    by_name = {name: at for at, name in enumerate(found.names)}
    must = {count.word: count.numbers for count in found.counts if count.level == "MUST"}
    assert must["dangerous"][by_name["rust/plain"]] == 1
    assert must["unclear refusal"][by_name["kotlin/jvm"]] == 1
    assert must["dangerous"][by_name["go/plain"]] == 0
    assert must["kept"][by_name["go/plain"]] == 2
    assert found.counts[0].word == "dangerous"


def test_who_died_has_no_counts_and_is_named(view: View) -> None:
    found = conformance(view)
    assert found is not None
    dead = [name for name in found.names if name not in ("go/plain", "rust/plain", "kotlin/jvm")]
    assert dead
    for name in dead:
        at = found.names.index(name)
        assert all(count.numbers[at] is None for count in found.counts)
        assert any(note.startswith(f"{name} died in the case host-missing") for note in found.notes)


def test_who_refused_the_post_is_named_with_what_that_costs(view: View) -> None:
    found = conformance(view)
    assert found is not None
    assert any("kotlin/jvm: POST /notes was answered 403" in note for note in found.notes)


def test_only_the_cases_that_somebody_breaks_are_told(view: View) -> None:
    found = conformance(view)
    assert found is not None
    (line,) = found.broken["MUST"]
    assert [case.id for case in line.cases] == ["host-missing"]
    assert line.fine == 1
    assert [requirement.id for requirement in found.kept] == ["head"]


class _Unfolded(HTMLParser):
    """The text outside of closed `<details>`, and of their summaries on the first level."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.depth += tag == "details" and "open" not in dict(attrs)

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == "details"

    def handle_data(self, data: str) -> None:
        if not self.depth:
            self.text += data


def test_the_page_shows_the_table_and_folds_the_rest(view: View) -> None:
    section = _section(html.document(view))
    assert "answered 200 and kept the connection open" in section
    unfolded = _Unfolded()
    unfolded.feed(section)
    assert "MUST broken, dangerous" in " ".join(unfolded.text.split())
    assert "host-missing" not in unfolded.text.replace("in the case host-missing:", "")


def test_markdown_names_what_is_broken_and_by_whom(view: View) -> None:
    text = markdown.document(view)
    part = text.split("## Conformance to HTTP/1.1")[1].split("\n## ")[0]
    assert "A request without Host is answered 400." in part
    assert "`rust/plain` (dangerous: 1 of 2 cases)" in part
    assert "`go/plain` (" not in part
