"""The registry is whole: every rule explains itself, under a code of its own."""

import sys
from pathlib import Path

import pytest

import touchstone.judge.rule as rule_module
from touchstone.judge import rules as folder
from touchstone.judge.rule import Rule, rules


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
def test_a_rule_says_what_why_and_what_next(rule: Rule) -> None:
    assert rule.code == rule.code.lower()
    for text in (rule.title, rule.threshold, rule.threshold_reason, rule.next_step, rule.__doc__):
        assert text is not None
        assert len(text) > 10
    assert rule.next_step.endswith(".")


def test_two_rules_of_one_code_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    twin = "from touchstone.judge.rules.process.server_died import ServerDied\n\n\nclass Twin(ServerDied):\n    pass\n"
    (tmp_path / "twin.py").write_text(twin)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    try:
        with pytest.raises(ValueError, match="two rules have the code 'server-died'"):
            rules.__wrapped__()
    finally:
        sys.modules.pop(f"{folder.__name__}.twin", None)


def test_no_rule_file_is_overlooked() -> None:
    # A room without its __init__.py is not walked, and its rules fall silent.
    room = Path(rule_module.__file__).parent / "rules"
    files = {path.stem for path in room.rglob("*.py") if path.name != "__init__.py"}
    assert {type(rule).__module__.rsplit(".", maxsplit=1)[-1] for rule in rules()} == files
