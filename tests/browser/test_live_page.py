"""The page of curves in a browser, while a run goes on and after its end."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.chromium import browser
from tests.judge.sound import sound_run
from tests.metrics.test_export import TURN, exporting


def test_the_curves_grow_while_a_run_goes_on_and_stay_when_it_ends() -> None:
    sample = sound_run().samples[0].model_copy(update={"phase": "load", "round": 2, "load": "users"})
    with browser() as chrome:
        page = chrome.new_page(reduced_motion="reduce")
        failed: list[str] = []
        page.on("pageerror", lambda error: failed.append(str(error)))
        with exporting("0") as (display, said):
            status = page.locator("header [role=status]")
            page.goto(said.split("curves: ")[1].split()[0])
            expect(status).to_have_text("Nothing is measured yet.")
            display.total(4)
            display.begins(sample)
            display.event({**TURN, "lap_phase": "warmup"})
            display.event(TURN)
            expect(page.locator("#rate circle")).to_have_count(2)
            display.event({**TURN, "contender": "java/plain", "rate": 100.0})
            expect(page.locator("#p99 circle")).to_have_count(3)
            expect(page.locator("#rate circle.warmup")).to_have_count(1)
            expect(page.locator(".legend li")).to_have_text(["go/plain", "java/plain"])
            expect(status).to_contain_text("0 of 4 measurements are done. Now: phase load, load users")
            assert not Axe().run(page).response["violations"]
        expect(status).to_have_text("The run has ended. Its figures are in its report.")
        expect(page.locator("#rate circle")).to_have_count(3)
        assert failed == []
