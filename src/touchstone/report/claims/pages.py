"""The pages: one an article, and a front page over all. Each is one file that opens offline.

Next to an article's page lie its verdicts as JSON. The front page is made of these, so that an article keeps its place
when its runs are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from touchstone.judge.claims.ruling import ClaimsRuling, Ruling
from touchstone.judge.reading.disturbance import disturbance
from touchstone.manifest.claim import ClaimsFile
from touchstone.report.claims import words
from touchstone.report.claims.plot import draw
from touchstone.report.claims.view import RuledFile
from touchstone.report.export import write
from touchstone.report.format import duration
from touchstone.report.html import environment
from touchstone.report.sections.environment import rows_of
from touchstone.report.sentence import machine, what_ran
from touchstone.report.view import View
from touchstone.report.why import words as why
from touchstone.report.why.waterfall import waterfall

FRONT = "index.html"


def render_claims(ruled: list[RuledFile], folder: Path, others: Sequence[ClaimsFile] = ()) -> list[Path]:
    """Write the claims' pages to `folder`. The first of the list is the front page.

    The front page is also of those of `others` whose page is in the folder already. Raises TouchstoneError.
    """
    pages = [write(folder / page_name(one.file), _article(one)) for one in ruled]
    for one in ruled:
        write(_verdicts(folder, one.file), one.ruling.model_dump_json(indent=1, by_alias=True) + "\n")
    shown = sorted([*ruled, *filter(None, (_kept(file, folder) for file in others))], key=lambda one: one.file.name)
    return [write(folder / FRONT, _front(shown)), *pages]


def page_name(file: ClaimsFile) -> str:
    """The file of an article's page."""
    return f"{file.name}.html"


def _verdicts(folder: Path, file: ClaimsFile) -> Path:
    return folder / f"{file.name}.json"


def _kept(file: ClaimsFile, folder: Path) -> RuledFile | None:
    """The verdicts of the page that lies there. None if there is none, or if it is of another version of the file."""
    try:
        ruling = ClaimsRuling.model_validate_json(_verdicts(folder, file).read_bytes())
    except (OSError, ValidationError):
        return None
    same = [claim.id for claim in ruling.claims] == [claim.id for claim in file.claims]
    return RuledFile(file, ruling, ()) if same and (folder / page_name(file)).is_file() else None


def _article(ruled: RuledFile) -> str:
    views = [View(j.run, j.judgement) for j in ruled.used]
    return _render(
        "claims.html",
        ruled=ruled,
        tally=_tally(ruled),
        file=ruled.file,
        plots={c.id: draw(ruled.of(c)) for c in ruled.file.claims},
        machines=list(dict.fromkeys(machine(view) for view in views)),
        around=words.other_load_words(disturbance(view.run for view in views)),
        runs=[(view.plan.run_id, what_ran(view)) for view in views],
        commands=list(dict.fromkeys(" ".join(view.plan.command) for view in views)),
        took=duration(sum(view.run.took_s or 0.0 for view in views)),
        fingerprint=rows_of(views[0]) if views else [],
    )


def _front(ruled: list[RuledFile]) -> str:
    totals = [(r, sum(one.ruling.count(r) for one in ruled)) for r in words.SIGNS]
    return _render(
        "claims_front.html",
        ruled=ruled,
        tallies={one.file.name: _tally(one) for one in ruled},
        totals=[(r, n) for r, n in totals if n],
        statements=sum(len(one.file.claims) for one in ruled),
        measured=sum(one.ruling.measured for one in ruled),
        places={one.file.name: _place(one) for one in ruled},
        page_name=page_name,
    )


def _place(ruled: RuledFile) -> str:
    """On which machines, and what else used them. Where the runs are gone, the article's page says it."""
    views = [View(j.run, j.judgement) for j in ruled.used]
    if not views:
        return ""
    machines = "; ".join(dict.fromkeys(machine(view) for view in views))
    return ". ".join(filter(None, (machines, words.other_load_words(disturbance(view.run for view in views)))))


def _tally(ruled: RuledFile) -> list[tuple[Ruling, int]]:
    return [(ruling, len(claims)) for ruling, claims in ruled.groups]


def _render(template: str, **shown: object) -> str:
    made = environment()
    made.globals |= {"words": words, "SIGNS": words.SIGNS, "Ruling": Ruling, "FRONT": FRONT, "about": words.ABOUT}
    made.globals |= {"why": why, "waterfall": waterfall}
    return made.get_template(template).render(**shown)
