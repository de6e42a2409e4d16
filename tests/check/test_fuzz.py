"""Whatever stands in a manifest or a record: it is read, or refused in a sentence. Never a traceback."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from touchstone.check.folder import check_folder
from touchstone.failure import TouchstoneError
from touchstone.judge.judge import judge
from touchstone.manifest.catalogue import read_scenario_folder, select_contenders
from touchstone.plan.plan import RunRequest as PlanWish
from touchstone.plan.plan import find_tools, make_plan
from touchstone.record.store import load_run
from touchstone.report import print_report
from touchstone.report.view import View

ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = sorted((ROOT / "scenarios").glob("*/scenario.toml")) + sorted((ROOT / "scenarios").glob("*/*/stack.toml"))
JUNK = ["", "{", "}", "{{", "[", '"', "'", "\\", "-1", "0", "1e999", "nan", "true", "[]", "{}", "null", "\x00", "é",
        "/", "..", "/etc", "{fresh}", "{x*9}", "(?=a)", "[[:alpha:]]", "9" * 30, "1979-05-27", "*", "**", "[a", '""',
        "a.b", "{tool:}", "{base}", "GET", "json", "expect = 1"]  # fmt: skip


@st.composite
def changes(draw: st.DrawFn) -> tuple[int, list[tuple[str, float, float, str]]]:
    """Which manifest, and a few changes to it: what, where, how much, and a text."""
    kinds = st.sampled_from(["delete line", "double line", "replace value", "insert", "cut", "swap lines", "drop"])
    place = st.floats(0, 1, exclude_max=True)
    one = st.tuples(kinds, place, place, st.sampled_from(JUNK) | st.text(max_size=8))
    return draw(st.integers(0, len(MANIFESTS) - 1)), draw(st.lists(one, min_size=1, max_size=4))


def changed(text: str, kind: str, where: float, how: float, junk: str) -> str:
    lines = text.splitlines() or [""]
    at = int(where * len(lines))
    line = lines[at]
    column = int(how * (len(line) + 1))
    if kind == "delete line":
        del lines[at]
    elif kind == "double line":
        lines.insert(at, line)
    elif kind == "replace value" and "=" in line:
        lines[at] = f"{line[: line.index('=')]}= {junk}"
    elif kind == "insert":
        lines[at] = line[:column] + junk + line[column:]
    elif kind == "cut":
        lines[at] = line[:column]
    elif kind == "swap lines":
        other = int(how * len(lines))
        lines[at], lines[other] = lines[other], line
    elif kind == "drop":
        lines[at] = line[:column] + line[column + 1 :]
    return "\n".join(lines)


def look_at(folder: Path, number: int, edits: list[tuple[str, float, float, str]]) -> None:
    """Read and check a scenario of which one manifest was changed, and draw up a plan of it."""
    original = MANIFESTS[number]
    text = original.read_text(encoding="utf-8")
    for edit in edits:
        text = changed(text, *edit)
    scenario = original.parent if original.name == "scenario.toml" else original.parent.parent
    copy = folder / scenario.name
    target = copy / original.relative_to(scenario)
    target.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        found = read_scenario_folder(copy)
        problems = check_folder(found)
        assert "\n".join(map(str, problems)) is not None
        if not problems:
            contenders = select_contenders(found, [])
            for contender in contenders:
                find_tools(contender)
            make_plan(found, contenders, PlanWish(profile="quick"), ["build"])
    except TouchstoneError as error:
        assert str(error)
    finally:
        shutil.copy2(original, target)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz")
    for scenario in {path.parent for path in MANIFESTS if path.name == "scenario.toml"}:
        shutil.copytree(scenario, folder / scenario.name)
    return folder


@settings(max_examples=200)
@given(changes())
def test_no_manifest_makes_a_traceback(copies: Path, change: tuple[int, list[tuple[str, float, float, str]]]) -> None:
    look_at(copies, *change)


@pytest.mark.slow
@settings(max_examples=10_000)
@given(changes())
def test_no_manifest_of_ten_thousand_makes_a_traceback(
    copies: Path, change: tuple[int, list[tuple[str, float, float, str]]]
) -> None:
    look_at(copies, *change)


VALUES: list[Any] = [None, 0, -1, 1.5, 1e308, "", "x", [], {}, True, [1], {"a": 1}, "2026-01-01", float("nan")]


def broken(document: Any, where: list[float], value: Any, *, remove: bool) -> Any:
    """The document with something deep within replaced or removed."""
    node, path = document, list(where)
    while path:
        place = path.pop(0)
        keys: list[Any] = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return document
        key = keys[int(place * len(keys))]
        if path and isinstance(node[key], dict | list):
            node = node[key]
            continue
        if remove:
            del node[key]
        else:
            node[key] = value
        return document
    return document


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was really recorded, with four of its samples."""
    folder = tmp_path_factory.mktemp("recorded")
    with tarfile.open(ROOT / "tests/golden/runs/hello.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    kept: dict[str, Path] = {}
    for path in sorted((folder / "samples").glob("*.json")):
        if kept.setdefault(path.name.split("-")[1], path) != path:
            path.unlink()
    return folder


@settings(max_examples=60)
@given(
    st.floats(0, 1, exclude_max=True),
    st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=6),
    st.sampled_from(VALUES),
    st.booleans(),
)
def test_no_record_makes_a_traceback(
    recorded: Path, which: float, where: list[float], value: Any, remove: bool
) -> None:
    files = sorted(recorded.rglob("*.json"))
    file = files[int(which * len(files))]
    original = file.read_text(encoding="utf-8")
    file.write_text(json.dumps(broken(json.loads(original), where, value, remove=remove)), encoding="utf-8")
    try:
        run = load_run(recorded)
        print_report(Console(file=io.StringIO()), View(run, judge(run)))
    except TouchstoneError as error:
        assert str(error)
    finally:
        file.write_text(original, encoding="utf-8")
