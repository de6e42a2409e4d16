"""The documentation's site: it is built without a complaint, holds its gallery, and can be searched offline."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.browser.chromium import browser, opened

ROOT = Path(__file__).resolve().parents[2]


def pages(entries: list[dict[str, Any]]) -> list[str]:
    """The pages of a navigation, in its order."""
    found: list[str] = []
    for entry in entries:
        for value in entry.values():
            found += [value] if isinstance(value, str) else pages(value)
    return found


def test_each_page_stands_once_in_the_navigation() -> None:
    made = ["gallery.md", "index.md"]  # by packaging/site.py
    written = [path.name for path in (ROOT / "docs").glob("*.md")]
    written += [str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").glob("field-guide/*.md")]
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(pages(settings["nav"])) == sorted([*made, *written])
    assert settings["validation"]["nav"]["omitted_files"] == "warn"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm: install it by `apt-get install npm`")
def test_the_site_is_whole_and_is_searched_offline(tmp_path: Path) -> None:
    site = tmp_path / "site"
    # mkdocs fails on a link or an anchor that leads nowhere.
    done = subprocess.run(["make", "site", f"SITE_DIR={site}"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for page in ("index.html", "commands.html", "gallery.html", "gallery/relay.html", "examples/claims/index.html"):
        assert (site / page).is_file()
    for file in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img)[^>]+src="(https?:[^"]+)"', file.read_text(encoding="utf-8"))
        assert not loaded, file
    with browser() as started:
        shown = opened(started, site / "index.html")
        shown.keyboard.press("/")
        shown.keyboard.type("tare")
        shown.locator(".md-search-result__item").first.wait_for(timeout=10_000)
