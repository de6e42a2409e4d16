from pathlib import Path

from touchstone.judge.language.findings_page import render_findings_page
from touchstone.judge.rules.table import RULES

PAGE = Path(__file__).parents[2] / "docs" / "findings.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_findings_page(), (
        "docs/findings.md is old: run `python -m touchstone.judge.language.findings_page > docs/findings.md`"
    )


def test_every_rule_has_its_entry() -> None:
    page = render_findings_page()
    for code in RULES:
        assert f"\n## {code}\n" in page
