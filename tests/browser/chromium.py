"""A Chromium of the machine, driven by Playwright: the pages are looked at where people look at them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

DESKTOP, PHONE = 1400, 390
Scheme = Literal["light", "dark"]


def chromium() -> str:
    """Where it is; skips the test on a machine that has none."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium: install it by `apt-get install chromium`")
    return found


@contextmanager
def browser() -> Iterator[Browser]:
    """Started once, ended with the block."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield started
        started.close()


def opened(
    browser: Browser, file: Path, *, width: int = DESKTOP, scheme: Scheme = "light", scripts: bool = True
) -> Page:
    """A page from a file, in a context of its own. An error of a script fails the test.

    It asks for reduced motion: where a thing stands is known at once, and not when scrolling to it has ended.
    """
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        reduced_motion="reduce",
        java_script_enabled=scripts,
        offline=True,
    )
    page = context.new_page()
    page.on("pageerror", lambda error: pytest.fail(f"a script of {file.name} failed: {error}"))
    page.goto(file.as_uri())
    return page
