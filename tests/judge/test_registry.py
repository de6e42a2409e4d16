"""The registry is whole: every rule explains itself and has a test of its own."""

from pathlib import Path

import pytest

import touchstone.judge.rule as rule_module
from touchstone.judge.rule import Rule, rules

TESTS = Path(__file__).parent / "rules"


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
def test_a_rule_says_what_why_and_what_next(rule: Rule) -> None:
    assert rule.code == rule.code.lower()
    for text in (rule.title, rule.threshold, rule.threshold_reason, rule.next_step, rule.__doc__):
        assert text is not None
        assert len(text) > 10
    assert rule.next_step.endswith(".")


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
def test_a_rule_has_a_test_that_plants_its_fault(rule: Rule) -> None:
    module = type(rule).__module__.rsplit(".", maxsplit=1)[-1]
    assert f'"{rule.code}"' in (TESTS / f"test_{module}.py").read_text(encoding="utf-8")


def test_codes_are_in_order_and_unique() -> None:
    codes = [rule.code for rule in rules()]
    assert codes == sorted(set(codes))
    assert len(codes) >= 60


def test_no_rule_file_is_overlooked() -> None:
    # A room without its __init__.py is not walked, and its rules fall silent.
    folder = Path(rule_module.__file__).parent / "rules"
    files = {path.stem for path in folder.rglob("*.py") if path.name != "__init__.py"}
    assert {type(rule).__module__.rsplit(".", maxsplit=1)[-1] for rule in rules()} == files
