"""Explanations on the page, on the terminal, in Markdown and in the formats of other viewers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from tests.browser.chromium import PHONE, browser, opened
from tests.judge.profiles import BASE, HANDLER, SPIN, evidence, profile_run
from touchstone.judge.judge import judge
from touchstone.judge.why.explain import explain
from touchstone.judge.why.explanation import CpuDifference, CpuExplanation
from touchstone.judge.why.tree import StackNode, tree
from touchstone.record.run import Run
from touchstone.report import render
from touchstone.report.view import View
from touchstone.report.why.exports import write_exports
from touchstone.report.why.flame import flame
from touchstone.report.why.terminal import print_explanation
from touchstone.report.why.waterfall import waterfall
from touchstone.report.why.words import sentence


@pytest.fixture(scope="module")
def profiled() -> Run:
    slow = [*BASE, (SPIN, 4.0), ([*HANDLER, "</script><b>"], 1.0)]
    run = profile_run({"go/std": [evidence(BASE)] * 4, "rust/std": [evidence(slow)] * 4})
    run.plan.baseline = "go"
    return run


@pytest.fixture(scope="module")
def folder(profiled: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("why")
    render(View(profiled, judge(profiled)), made)
    return made


def test_the_page_shows_parts_functions_calls_and_a_flame_graph(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    section = page[page.index('<section id="why"') :]
    assert "go/std" in section
    assert "main.spin" in section
    assert "+4.0" in section
    assert "system calls per request" in section
    assert "Voluntary context switches" in section
    assert section.count("data-flame=") == 1
    assert not re.search(r'(src|href)="(?!#)', section)


def test_names_from_a_profile_cannot_end_the_script(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    found = re.search(r'<script type="application/json" id="flame-0">(.*?)</script>', page, re.DOTALL)
    assert found
    assert "</script><b>" in json.loads(found[1])["names"]


def test_the_markdown_has_the_parts(folder: Path) -> None:
    text = (folder / "report.md").read_text()
    assert "## Why: CPU per request in parts" in text
    assert re.search(r"\| `main\.spin` \| 0\.0+ \| 4\.0+ \| \+4\.0+ \|.*different", text)


def test_a_run_without_a_profile_has_no_such_section(rendered: Path) -> None:
    page = (rendered / "report.html").read_text()
    assert 'id="why"' not in page
    assert "application/json" not in page


def test_the_terminal_goes_from_one_figure_to_the_other(profiled: Run) -> None:
    console = Console(width=160, record=True)
    with console.capture() as said:
        print_explanation(console, explain(profiled, "go/std", "rust/std", "lookup", 0.95))
    text = said.get()
    assert "rust/std takes 27.0 µs of CPU per request, go/std 22.0 µs" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["application"] in [line[:1] for line in lines]
    assert any(line[:1] == ["main.spin"] and "different" in line for line in lines)


def test_a_waterfall_goes_from_one_figure_to_the_other_on_a_scale_of_the_differences(profiled: Run) -> None:
    found = explain(profiled, "go/std", "rust/std", "lookup", 0.95)
    assert isinstance(found, CpuExplanation)
    fall = waterfall(found)
    assert (fall.low, fall.high) == pytest.approx((22e-6, 27e-6)), "what both have in common is left out"
    assert sum(step.width if step.more else -step.width for step in fall.steps) == pytest.approx(1.0)
    first = fall.steps[0]
    assert first.part.name == "application"
    assert (first.left, first.width) == pytest.approx((0.0, 1.0))
    assert (fall.total.left, fall.total.width) == pytest.approx((0.0, 1.0))


def test_the_largest_part_is_named_although_it_is_not_certain(profiled: Run) -> None:
    found = explain(profiled, "go/std", "rust/std", "lookup", 0.95)
    assert isinstance(found, CpuExplanation)
    doubtful = CpuDifference(name="JIT compiler", baseline=0.0, contender=90e-6, low=-1e-6, high=200e-6)
    said = sentence(found.model_copy(update={"parts": [*found.parts, doubtful]}))
    assert said.startswith("Parts of the +5.00 µs: +5.00 application")
    assert said.endswith(" The largest part is not certain: +90.0 JIT compiler.")


def test_a_flame_graph_leaves_out_what_is_too_thin(profiled: Run) -> None:
    root = tree(profiled, "go/std", "rust/std", "lookup")
    whole, coarse = flame(root, 0.0), flame(root, 0.05)
    assert whole.left_out == 0
    assert 0 < coarse.left_out < len(whole.nodes) // 4
    assert whole.nodes[:4] == [0, 0, 22_000, 27_000]
    assert flame(StackNode("all"), 0.1).nodes == [0, 0, 0, 0]


def test_exports_add_up_to_the_cpu_per_request(profiled: Run, tmp_path: Path) -> None:
    written = {path.name: path for path in write_exports(profiled, ["lookup"], ["go/std", "rust/std"], tmp_path)}
    assert written.keys() == {
        f"lookup-{name}.{form}" for name in ("go-std", "rust-std") for form in ("folded", "speedscope.json")
    }
    lines = written["lookup-rust-std.folded"].read_text().splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == pytest.approx(27_000, abs=len(lines))
    document = json.loads(written["lookup-rust-std.speedscope.json"].read_text())
    (profile,) = document["profiles"]
    assert profile["type"] == "sampled"
    assert sum(profile["weights"]) == pytest.approx(27_000)
    assert max(place for sample in profile["samples"] for place in sample) < len(document["shared"]["frames"])


_DRIVE = """
<script>
const figure = document.querySelector("[data-flame]"), said = [];
const [canvas, out, input] = [".flames", "output", "input"].map((q) => figure.querySelector(q));
const press = (key) => { canvas.dispatchEvent(new KeyboardEvent("keydown", { key })); said.push(out.textContent); };
["ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "Enter"].forEach(press);
said.push("shown " + canvas.children.length);
press("Escape");
said.push("shown " + canvas.children.length);
input.value = "SPIN";
input.dispatchEvent(new Event("input"));
said.push(out.textContent, "marked " + canvas.querySelectorAll(".found").length);
document.title = said.join(" | ");
</script>
"""


@pytest.mark.slow
def test_the_flame_graph_answers_keys_and_search_in_a_browser(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "driven.html"
    page.write_text((folder / "report.html").read_text().replace("</body>", f"{_DRIVE}</body>"))
    with browser() as started:
        shown = opened(started, page)
        shown.wait_for_function("document.title.includes(' | ')")
        told = shown.title()
    app, _goexit, _serve, handler, zoomed, fewer, _whole, more, searched, marked = told.split(" | ")
    assert app.startswith("app: 22.00 µs in go/std, 27.00 µs in rust/std, +5.00 µs")
    assert handler.startswith("main.handler: 10.00 µs in go/std, 15.00 µs in rust/std")
    assert zoomed == handler
    # Zoomed in, the write next to the handler is not drawn.
    assert int(fewer.split()[1]) < int(more.split()[1])
    assert searched == "1 found: 0.00 µs in go/std, 4.00 µs in rust/std"
    assert marked == "marked 1"


@pytest.mark.slow
def test_on_a_phone_every_bar_of_the_waterfall_is_on_the_screen(folder: Path) -> None:
    with browser() as started:
        page = opened(started, folder / "report.html", width=PHONE)
        edges = "bars => bars.map(bar => bar.getBoundingClientRect()).map(at => [at.left, at.right])"
        bars = page.eval_on_selector_all("#why .fall i", edges)
    assert len(bars) >= 5
    assert all(0 <= left < right <= PHONE for left, right in bars)
