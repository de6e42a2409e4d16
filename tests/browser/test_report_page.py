"""The report in a browser: what can be done with it, for whom, and that it needs neither network nor scripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import DESKTOP, PHONE, Scheme, browser, opened
from tests.golden.golden import judged, recorded_run
from tests.report.fixture import make_judgement, make_run
from touchstone.judge.judge import judge
from touchstone.record.run import Run
from touchstone.record.sample import Sample
from touchstone.report import html
from touchstone.report.view import View


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(html.document(View(recorded_run("hello"), judged("hello"))), encoding="utf-8")
    return file


@pytest.fixture
def page(chrome: Browser, report: Path) -> Page:
    return opened(chrome, report)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_nobody_is_kept_out(chrome: Browser, report: Path, width: int, scheme: Scheme) -> None:
    page = opened(chrome, report, width=width, scheme=scheme)
    found = Axe().run(page).response["violations"]
    assert not [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found]
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_answer_is_seen_whole_and_each_figure_has_a_name_of_its_own(chrome: Browser, report: Path) -> None:
    page = opened(chrome, report)
    assert page.locator("table.score thead th").count() >= 9
    cut = "box => box.scrollWidth - box.clientWidth"
    assert page.locator(".scroll:has(> table.score)").evaluate(cut) <= 0
    # On a phone the table is a list, in which a name tells figures of several loads apart.
    names = "row => [...row.querySelectorAll('td')].map(cell => cell.dataset.label)"
    labels = page.locator("table.score tbody tr").first.evaluate(names)
    assert len(set(labels)) == len(labels)


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_the_page_never_scrolls_sideways(chrome: Browser, tmp_path: Path, width: int) -> None:
    run = make_run()
    file = tmp_path / "report.html"
    file.write_text(html.document(View(run, make_judgement(run))), encoding="utf-8")
    page = opened(chrome, file, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_without_scripts_all_is_there_and_nothing_offers_what_it_cannot_do(chrome: Browser, report: Path) -> None:
    page = opened(chrome, report, scripts=False)
    assert page.locator("h2").count() > 8
    assert page.locator("svg").count() > 5
    assert page.locator("button, input").count() == 0
    expect(page.locator(".tools")).to_be_hidden()


def test_a_contender_is_switched_off_in_all_plots(page: Page) -> None:
    marks = page.locator('svg [data-contender="rust-hyper/plain"]')
    assert marks.count() > 10
    shown = page.locator('svg [data-contender="rust-hyper/plain"]:visible').count()
    others = page.locator('svg [data-contender="mote/plain"]:visible').count()
    button = page.locator('[data-switch="rust-hyper/plain"] button')
    button.click()
    assert page.locator('svg [data-contender="rust-hyper/plain"]:visible').count() == 0
    assert page.locator('svg [data-contender="mote/plain"]:visible').count() == others
    expect(button).to_have_attribute("aria-pressed", "false")
    button.press("Enter")
    assert page.locator('svg [data-contender="rust-hyper/plain"]:visible').count() == shown


def test_a_table_sorts_by_value_and_back(page: Page) -> None:
    table = page.locator("table.score")
    names = table.locator("tbody .name")
    before = names.all_inner_texts()
    head = table.locator("thead th").nth(1)
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    cells = table.locator("tbody td:nth-child(2)[data-order]")
    values = [float(cell.get_attribute("data-order") or "nan") for cell in cells.all()]
    assert len(values) > 1
    assert values == sorted(values)
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    head.get_by_role("button").click()
    assert names.all_inner_texts() == before


def test_a_table_of_all_figures_is_filtered(page: Page) -> None:
    page.locator("#all-figures details").evaluate_all("all => all.forEach(d => d.open = true)")
    field = page.get_by_label("Filter the figures of this table").first
    table = field.locator("xpath=following::table[1]")
    every = table.locator("tbody tr:visible").count()
    field.fill("latency p99")
    left = table.locator("tbody tr:visible th").all_inner_texts()
    assert 0 < len(left) < every
    assert all("p99" in text.lower() for text in left)


def test_nothing_moves_for_whom_motion_is_reduced(page: Page) -> None:
    page.evaluate("scrollTo(0, 0)")
    assert page.evaluate("document.querySelector('#all-figures').scrollIntoView(), scrollY") > 0


def test_values_are_read_by_keyboard_and_by_pointer(page: Page) -> None:
    plot = page.locator(".plot:has(g[data-y])").first
    tip = page.locator(".tip")
    plot.focus()
    page.keyboard.press("ArrowRight")
    first = tip.inner_text()
    assert re.match(r"[\w/-]+: [\d.]+", first)
    page.keyboard.press("ArrowRight")
    assert tip.inner_text() != first
    page.keyboard.press("ArrowDown")
    assert tip.inner_text().split(":")[0] != first.split(":")[0]
    read, spot = tip.inner_text(), plot.locator(".dot").bounding_box()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    assert spot is not None
    page.mouse.move(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
    assert tip.inner_text() == read


def test_a_value_that_is_read_stands_where_the_line_is(page: Page) -> None:
    """The values carried are those drawn: the highest of a line lies highest on the page."""
    found = []
    for mark in page.locator("g.mark[data-y]").all():
        corners = re.findall(r"[ML] ?(-?[\d.]+)\s+(-?[\d.]+)", mark.locator("path").first.get_attribute("d") or "")
        values = [float(word) for word in (mark.get_attribute("data-y") or "").split()]
        found.append((values, [float(y) for _, y in corners]))
    straight = [(values, heights) for values, heights in found if len(values) == len(heights) > 2]
    assert len(straight) > 5
    for values, heights in straight:
        assert min(heights) == pytest.approx(heights[values.index(max(values))], abs=0.3)


def test_colours_are_chosen_and_remembered(page: Page) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    button = page.get_by_role("button", name=re.compile("Colours"))
    button.click()
    button.click()
    assert page.evaluate(paper) != light
    page.reload()
    assert page.evaluate(paper) != light


def test_print_is_light_and_shows_no_buttons(chrome: Browser, report: Path) -> None:
    page = opened(chrome, report, scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator(".tools")).to_be_hidden()
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert max(map(int, re.findall(r"\d+", ink)[:3])) < 80


def test_a_link_to_a_folded_finding_unfolds_it(page: Page) -> None:
    link = page.locator('a[href^="#finding-"]').first
    target = page.locator(str(link.get_attribute("href")))
    expect(target).to_be_hidden()
    link.click()
    expect(target).to_be_visible()


def copied(samples: Iterable[Sample], **changed: str) -> list[Sample]:
    return [s.model_copy(update=changed | {"id": "-".join([s.id, *changed.values()])}) for s in samples]


def many(contenders: int, loads: int) -> Run:
    """A made-up run with copies of a contender and of a load under other names."""
    run = make_run(rounds=3)
    model = next(c for c in run.plan.contenders if c.name == "rust/plain")
    stacks = [f"copy-{number}" for number in range(contenders - 2)]
    kept = ["go/plain", "rust/plain"]
    samples = [s for s in run.samples if s.contender in {*kept, "tare"} and s.load != "curve"]
    models = [s for s in samples if s.contender == "rust/plain"]
    for stack in stacks:
        samples += copied(models, contender=f"{stack}/plain")
    further = [f"lookup-{number}" for number in range(loads - 2)]
    lookups = [s for s in samples if s.load == "lookup"]
    for load in further:
        samples += copied(lookups, load=load)
    specs = run.plan.load_specs
    changed = {
        "contenders": [
            *(c for c in run.plan.contenders if c.name in kept),
            *(model.model_copy(update={"name": f"{stack}/plain", "stack": stack}) for stack in stacks),
        ],
        "loads": ["lookup", "insert", *further],
        "load_specs": specs | {load: specs["lookup"].model_copy(update={"title": load}) for load in further},
        "orders": [[*kept, *(f"{stack}/plain" for stack in stacks)]] * 3,
    }
    return run.model_copy(update={"plan": run.plan.model_copy(update=changed), "samples": samples})


@pytest.mark.slow
def test_twelve_contenders_and_six_loads_stay_readable(chrome: Browser, tmp_path: Path) -> None:
    run = many(12, 6)
    text = html.document(View(run, judge(run)))
    assert len(text.encode()) <= html.LIMIT
    file = tmp_path / "report.html"
    file.write_text(text, encoding="utf-8")
    for width in (DESKTOP, PHONE):
        page = opened(chrome, file, width=width)
        assert not Axe().run(page).response["violations"]
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.locator("table.score tbody tr").count() == 12
