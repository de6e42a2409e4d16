"""The draft of a post about a run, with verdicts on published claims about its scenario."""

from __future__ import annotations

from pathlib import Path

from touchstone.cli.places import claims_root
from touchstone.judge.claims.evidence import RunWithJudgement
from touchstone.judge.claims.judge import judge_claims
from touchstone.manifest.claims_folder import claims_in, read_claims
from touchstone.report.article import render_article
from touchstone.report.claims.view import RuledFile
from touchstone.report.view import View


def write_post(view: View, folder: Path) -> list[Path]:
    """Write the draft to a folder; returns its files."""
    judged = RunWithJudgement(view.run, view.judgement)
    files = [read_claims(path) for path in claims_in(claims_root())]
    about = [file for file in files if file.scenario == view.plan.scenario]
    ruled = [RuledFile(file, judge_claims(file, [judged]), (judged,)) for file in about]
    return render_article(view, ruled, folder)
