"""docs/findings.md: one entry a rule, from the registry.

`python -m touchstone.judge.language.findings_page > docs/findings.md` makes it again.
"""

from __future__ import annotations

import sys

from touchstone.judge.rule import Rule
from touchstone.judge.rules.table import RULES

_HEAD = """# Findings

This page lists every rule with which touchstone checks recorded data. A rule that fires produces a *finding*: the
problem, the figures that it affects, the evidence and the next step. Figures with an *invalid* finding are left out of
every comparison. Figures with a *suspect* finding are marked. A *note* changes no figure. Rules read only recorded data
and treat all contenders alike.

This page is generated from the rules in `src/touchstone/judge/rules/`. Each file there holds a group of related rules.
Each rule has a test in `tests/judge/rules/`.
"""


def render_findings_page() -> str:
    """The page in Markdown: a table of all rules, the heaviest first, then an entry for each in the order of codes."""
    ordered = sorted(RULES.values(), key=lambda rule: rule.severity.place)
    table = ["| code | severity | fires when |", "|---|---|---|"]
    table += [f"| [`{r.code}`](#{r.code}) | {r.severity} | {_lowered(r.title)} |" for r in ordered]
    return "\n".join([_HEAD, *table, "", *(_entry(r) for r in RULES.values())])


def _entry(rule: Rule) -> str:
    return (
        f"## {rule.code}\n\n**{rule.title}** ({rule.severity})\n\n{rule.why}\n\n"
        f"* Threshold: {rule.threshold}.\n* Why this threshold: {rule.threshold_reason}.\n"
        f"* What to do: {rule.next_step}\n"
    )


def _lowered(title: str) -> str:
    return title[0].lower() + title[1:]


if __name__ == "__main__":
    sys.stdout.write(render_findings_page())
