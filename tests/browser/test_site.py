"""The site over several runs in a browser: filters, groups, two contenders, time, badges, for everyone and on paper."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import DESKTOP, PHONE, Scheme, browser, opened
from tests.golden.golden import recorded_run
from touchstone.record.published import PublishedFigure, PublishedFigures
from touchstone.record.run import Run
from touchstone.site.page import document, write_site

CONTENDERS, LOADS = 400, 30


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    hello = recorded_run("hello")
    runs = [hello, recorded_run("relay"), *(later(hello, days) for days in (1, 2, 3))]
    write_site(runs, out, "All runs")
    return out / "index.html"


def later(run: Run, days: int) -> Run:
    """The same run some days later."""
    plan = run.plan.model_copy(update={"run_id": f"{run.plan.run_id}-{days}"})
    return run.model_copy(update={"plan": plan, "started_at": run.started_at + timedelta(days=days)})


@pytest.fixture
def page(chrome: Browser, site: Path) -> Page:
    return opened(chrome, site)


def names(page: Page) -> list[str]:
    return page.locator("#board-table tbody th").all_text_contents()


@pytest.mark.parametrize(("width", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_nobody_is_kept_out(chrome: Browser, site: Path, width: int, scheme: Scheme) -> None:
    page = opened(chrome, site, width=width, scheme=scheme)
    found = Axe().run(page).response["violations"]
    assert not [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found]
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_filter_is_in_the_address_and_is_found_there_again(chrome: Browser, site: Path, page: Page) -> None:
    page.get_by_label("Scenario").select_option("relay")
    everyone = names(page)
    page.locator("[name=q]").fill("rust")
    assert names(page)
    assert set(names(page)) < set(everyone)
    assert "q=rust" in page.url
    again = opened(chrome, site)
    again.goto(page.url)
    again.reload()
    assert names(again) == names(page)
    expect(again.locator("#board .status")).to_contain_text(f"{len(names(page))} of {len(everyone)} shown")


def test_groups_do_not_change_with_the_filter(page: Page) -> None:
    page.get_by_label("Scenario").select_option("relay")
    rows = page.locator("#board-table tbody tr")
    groups = {row.locator("th").inner_text(): row.locator("td").first.inner_text() for row in rows.all()}
    assert len(set(groups.values())) > 1
    last = names(page)[-1]
    page.locator("[name=q]").fill(last)
    assert page.locator("#board-table tbody td").first.inner_text() == groups[last]


def test_a_column_is_sorted_by_keyboard_and_the_address_has_it(page: Page) -> None:
    button = page.locator("#board-table thead button", has_text="contender")
    button.focus()
    page.keyboard.press("Enter")
    assert names(page) == sorted(names(page))
    page.keyboard.press("Enter")
    assert names(page) == sorted(names(page), reverse=True)
    assert "sort=contender%3Adown" in page.url
    assert page.locator("#board-table th[aria-sort=descending]").count() == 1


def test_older_runs_are_shown_when_asked_for(page: Page) -> None:
    page.get_by_label("Scenario").select_option("hello")
    newest = len(names(page))
    page.get_by_label("older runs, too").check()
    assert len(names(page)) == 4 * newest


def test_two_contenders_stand_side_by_side(page: Page) -> None:
    page.get_by_label("Scenario").select_option("hello")
    page.locator("[name=a]").select_option("mote/plain")
    page.locator("[name=b]").select_option("rust-hyper/plain")
    told = page.locator("#pair-table tbody tr td:last-child").all_text_contents()
    assert any(one.startswith("yes: mote/plain") for one in told)
    assert any(one.startswith("no:") for one in told)
    assert "b=rust-hyper" in page.url


def test_a_contender_is_drawn_over_time(page: Page) -> None:
    assert page.locator("#time article svg").count() > 2


def test_reports_open_from_the_page(page: Page) -> None:
    page.locator("#runs tbody a").first.click()
    expect(page.locator("h1")).to_be_visible()
    assert "/runs/" in page.url


def test_without_scripts_the_reports_are_there(chrome: Browser, site: Path) -> None:
    page = opened(chrome, site, scripts=False)
    assert page.locator("#runs tbody a").count() == 5
    expect(page.locator(".controls").first).to_be_hidden()


def test_it_prints_what_is_shown(page: Page) -> None:
    page.emulate_media(media="print")
    expect(page.locator(".controls").first).to_be_hidden()
    expect(page.locator("#board-table")).to_be_visible()


def test_a_badge_states_interval_and_date(site: Path) -> None:
    badge = (site.parent / "badges" / "hello" / "mote.plain.svg").read_text(encoding="utf-8")
    assert re.search(r"<title>mote/plain: .+ \([\d.,]+ to [\d.,]+\).* on \d{4}-\d\d-\d\d</title>", badge)


def large() -> dict[str, Any]:
    """A board of four hundred contenders under thirty loads."""
    draw = random.Random(1)
    run = {"id": "1", "scenario": "s", "date": "2026-11-27 12:00", "machine": "m", "verdict": "valid", "report": "r"}
    board = {"scenario": "s", "figure": "Throughput", "unit": "k/s", "better": 1}

    def row(contender: int) -> list[Any]:
        middle = draw.uniform(10, 300)
        ends = [round(middle * share, 1) for share in (1, draw.uniform(0.8, 1), draw.uniform(1, 1.2))]
        return [
            0,
            contender,
            *ends,
            draw.randint(1, 90),
            0,
            round(draw.uniform(0.1, 2), 4),
            round(draw.uniform(2, 4), 4),
        ]

    boards = [{**board, "place": f"Load {at}", "rows": [row(one) for one in range(CONTENDERS)]} for at in range(LOADS)]
    return {"runs": [run], "contenders": [f"stack-{one}/plain" for one in range(CONTENDERS)], "boards": boards}


def test_a_large_board_is_small_and_is_filtered(chrome: Browser, tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    file.write_text(document(large(), "Large"), encoding="utf-8")
    assert len(gzip.compress(file.read_bytes())) < 1_000_000
    page = opened(chrome, file)
    assert len(names(page)) == CONTENDERS
    filtered = """() => {
        const input = document.querySelector("[name=q]");
        const before = performance.now();
        input.value = "stack-39";
        input.dispatchEvent(new Event("input", { bubbles: true }));
        document.body.offsetHeight;
        return performance.now() - before;
    }"""
    took_ms = page.evaluate(filtered)
    assert len(names(page)) == 11
    print(f"a filter of {CONTENDERS} contenders took {took_ms:.1f} ms")


def test_a_rank_without_an_interval_is_called_one(chrome: Browser, tmp_path: Path) -> None:
    figures = [
        PublishedFigure(entry=name, test="json", figure="throughput", values=values)
        for name, values in {"a": [300.0, 301.0, 302.0], "b": [200.0], "c": [100.0]}.items()
    ]
    published = [
        PublishedFigures(benchmark="Some", files=["one.json"], figures=figures),
        PublishedFigures(benchmark="Other", files=["two.json"], figures=figures[1:]),
    ]
    write_site([recorded_run("hello")], tmp_path, "All", published)
    page = opened(chrome, tmp_path / "index.html")
    note = page.locator(".no-interval")
    expect(note).to_be_hidden()
    page.get_by_label("Scenario").select_option("Some")
    expect(note).to_contain_text("2 of 3 values have no interval, and so no group")
    page.get_by_label("Scenario").select_option("Other")
    expect(note).to_contain_text("No rank here has an interval behind it")
    expect(page.locator("#board-table tbody tr td:first-child", has_text=re.compile("[0-9]"))).to_have_count(0)
    assert page.locator("#board-table tbody a").count() == 0
    assert not Axe().run(page).response["violations"]
