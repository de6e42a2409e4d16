"""The pages made from commands and figures are current, and the manual page is one that `man` reads."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from touchstone.cli import reference
from touchstone.cli.commands import COMMANDS
from touchstone.vocabulary import figures_page

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_commands_is_current() -> None:
    assert (DOCS / "commands.md").read_text(encoding="utf-8") == reference.page(), (
        "docs/commands.md is old: run `python -m touchstone.cli.reference > docs/commands.md`"
    )


def test_the_page_of_figures_is_current() -> None:
    assert (DOCS / "figures.md").read_text(encoding="utf-8") == figures_page.page(), (
        "docs/figures.md is old: run `python -m touchstone.vocabulary.figures_page > docs/figures.md`"
    )


def test_the_manual_in_the_wheel_is_current() -> None:
    held = DOCS.parent / "packaging/data/data/share/man/man1/touchstone.1"
    assert held.read_text(encoding="utf-8") == reference.manual(), (
        f"the manual is old: run `python -m touchstone.cli.reference --man > {held.relative_to(DOCS.parent)}`"
    )


def test_the_manual_has_every_command_and_keeps_roffs_rules() -> None:
    text = reference.manual()
    for name in COMMANDS:
        assert f'.SS "touchstone {name}"' in text
    known = {".TH", ".SH", ".SS", ".TP", ".B", ".I"}
    assert {line.split()[0] for line in text.splitlines() if line.startswith(".")} <= known


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff: `apt-get install groff`")
def test_groff_reads_the_manual_without_a_complaint() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z"], input=reference.manual(), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
