from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.fixture import make_judgement, make_run
from touchstone.judge.judgement import Judgement
from touchstone.record.run import Run
from touchstone.report import render
from touchstone.report.view import View


@pytest.fixture(scope="session")
def run() -> Run:
    return make_run()


@pytest.fixture(scope="session")
def judgement(run: Run) -> Judgement:
    return make_judgement(run)


@pytest.fixture(scope="session")
def view(run: Run, judgement: Judgement) -> View:
    return View(run, judgement)


@pytest.fixture(scope="session")
def rendered(run: Run, judgement: Judgement, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    render(View(run, judgement), folder)
    return folder
