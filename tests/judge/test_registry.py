"""The table is whole: every rule explains itself, under a code of its own."""

import importlib
import pkgutil
from dataclasses import replace

import pytest

from touchstone.judge import rules as folder
from touchstone.judge.rule import Rule
from touchstone.judge.rules.table import RULES, by_code


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_a_rule_says_what_why_and_what_next(rule: Rule) -> None:
    assert rule.code == rule.code.lower()
    for text in (rule.title, rule.why, rule.threshold, rule.threshold_reason, rule.next_step):
        assert len(text) > 10
    assert rule.next_step.endswith(".")
    assert rule.explains <= RULES.keys() - {rule.code}


def test_two_rules_of_one_code_are_refused() -> None:
    rule = RULES["server-died"]
    with pytest.raises(ValueError, match="two rules have the code 'server-died'"):
        by_code([*RULES.values(), replace(rule, title="another rule")])


def test_every_rule_that_is_declared_is_in_the_table_under_its_functions_name() -> None:
    declared = {
        name: rule
        for module in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}.")
        for name, rule in vars(importlib.import_module(module.name)).items()
        if isinstance(rule, Rule)
    }
    assert declared == {code.replace("-", "_"): rule for code, rule in RULES.items()}
