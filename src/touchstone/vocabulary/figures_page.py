"""The page of all figures, made from their declarations.

`python -m touchstone.vocabulary.figures_page > docs/figures.md`
"""

from __future__ import annotations

import sys
from itertools import groupby

from touchstone.vocabulary.figure import FIGURES
from touchstone.vocabulary.phase import PHASES

_HEAD = """\
# Figures

Every figure that is measured, made from its declaration in `src/touchstone/vocabulary/figure.py`. Values in records
and in `report.csv` are in the base unit; reports scale them. *Headline* figures stand in the summary of a report.
"""


def page() -> str:
    """In Markdown, a table for each phase."""
    parts = [_HEAD]
    known = sorted(FIGURES.values(), key=lambda figure: list(PHASES).index(figure.phase))
    for phase, figures in groupby(known, key=lambda figure: figure.phase):
        rows = [
            f"| `{f.name}` | {f.title} | {f.unit.value} | {f.better.value} | {'yes' if f.headline else ''} |"
            for f in figures
        ]
        head = ["| figure | title | base unit | better is | headline |", "|---|---|---|---|---|"]
        parts.append("\n".join([f"## {phase}", "", *head, *rows]) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
