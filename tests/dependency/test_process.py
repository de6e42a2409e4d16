"""A program of the user's own is started, made fresh, asked, taken away, brought back and ended."""

from __future__ import annotations

import os
import shutil
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from touchstone.dependency.base import Dependency, DependencyContext, DependencyError, UnknownActError
from touchstone.dependency.process import Program
from touchstone.isolation.process import lives
from touchstone.vocabulary.dependency import DEPENDENCIES

ASK = [sys.executable, "{scenario}/prices.py", "ask", "{port}"]
SETTINGS: dict[str, Any] = {
    "run": [sys.executable, "{scenario}/prices.py", "{port}"],
    "address": "http://{host}:{port}",
    "prepare": [[*ASK, "stock"]],
    "ask": [*ASK, "{query}"],
}
CPUS = (max(os.sched_getaffinity(0)),)


@pytest.fixture
def context(tmp_path: Path) -> DependencyContext:
    scenario = tmp_path / "scenario"
    scenario.mkdir()
    shutil.copy(Path(__file__).with_name("prices.py"), scenario)
    return DependencyContext(
        tmp_path / "data", tmp_path / "log", CPUS, Path("engine"), tmp_path / "cache", scenario=scenario
    )


@pytest.fixture
def prices(context: DependencyContext) -> Iterator[Program]:
    variables = {"PRICES_PORT": "{port}", "PRICES": "{url}/price"}
    prices = Program("prices", "PRICES_URL", SETTINGS, replace(context, variables=variables))
    prices.start()
    yield prices
    prices.stop()


def get(prices: Dependency, target: str) -> str:
    with urllib.request.urlopen(f"{prices.environment()['PRICES_URL']}{target}", timeout=20) as answer:
        return str(answer.read().decode())


def inhabitants(folder: Path) -> list[int]:
    """The processes that run in a folder."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.cwd() == str(folder):
                found.append(process.pid)
    return found


def test_a_service_finds_it_and_questions_are_answered_in_numbers_and_words(prices: Program) -> None:
    given = prices.environment()
    assert given["PRICES_URL"] == f"http://127.0.0.1:{given['PRICES_PORT']}"
    assert given["PRICES"] == f"{given['PRICES_URL']}/price"
    assert tuple(prices.address()) == DEPENDENCIES["process"].address
    assert get(prices, "/price") == "42"
    assert prices.ask("hits") == 1
    assert prices.ask("rate") == 0.5
    get(prices, "/keep")
    assert prices.ask("files") == "kept"
    with pytest.raises(DependencyError, match=r"the command `ask` ended with 1: .*404"):
        prices.ask("nothing")


def test_each_contender_finds_it_fresh_and_prepared_on_another_port(prices: Program) -> None:
    (pid,) = prices.pids()
    prices.reset({})
    assert prices.pids() == [pid], "nobody has been given its address, so that it is fresh still"
    before = prices.environment()
    get(prices, "/price")
    get(prices, "/keep")
    assert prices.ask("stocked") == 1
    assert prices.reset({}) == []
    assert not psutil.pid_exists(pid)
    assert prices.environment() != before
    assert (prices.ask("hits"), prices.ask("files"), prices.ask("stocked")) == (0, "", 1)


def test_parts_have_processes_ports_and_folders_of_their_own(prices: Program) -> None:
    assert prices.divisible
    parts = [prices.part(), prices.part()]
    try:
        for number, part in enumerate(parts):
            part.reset({})
            for _ in range(number + 1):
                get(part, "/price")
        get(parts[0], "/keep")
        assert [part.ask("hits") for part in (prices, *parts)] == [0, 1, 2]
        assert [part.ask("files") for part in (prices, *parts)] == ["", "kept", ""]
        assert len({pid for part in (prices, *parts) for pid in part.pids()}) == 3
        assert parts[0].environment()["PRICES_PORT"] != parts[1].environment()["PRICES_PORT"]
    finally:
        for part in parts:
            part.stop()
    assert prices.ask("hits") == 0


def test_stop_takes_it_away_and_start_brings_it_back_with_its_folder(prices: Program) -> None:
    get(prices, "/keep")
    given = prices.environment()
    prices.act("stop", {})
    assert prices.pids() == []
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(given["PRICES"], timeout=5)
    with pytest.raises(DependencyError, match="it is down"):
        prices.ask("hits")
    prices.act("start", {})
    assert prices.environment() == given
    assert (prices.ask("files"), prices.ask("stocked")) == ("kept", 0)
    with pytest.raises(UnknownActError, match="stop, start"):
        prices.act("explode", {})


def test_one_that_has_died_is_told_with_its_last_words_and_made_anew(prices: Program) -> None:
    assert prices.observe()["rss"] > 2**20
    with pytest.raises((urllib.error.URLError, ConnectionError)):
        get(prices, "/die")
    deadline = time.monotonic() + 10
    while prices.pids() and time.monotonic() < deadline:
        time.sleep(0.01)
    for use in (prices.observe, prices.environment, lambda: prices.ask("hits")):
        with pytest.raises(DependencyError, match="exited with code 3: out of ink"):
            use()
    prices.reset({})
    assert get(prices, "/price") == "42"


def test_its_whole_tree_is_watched_bound_and_ended(context: DependencyContext) -> None:
    nested = ["sh", "-c", f"{sys.executable} {{scenario}}/prices.py {{port}} & wait"]
    prices = Program("prices", "PRICES_URL", {**SETTINGS, "run": nested}, context)
    prices.start()
    (root,) = prices.pids()
    assert root in inhabitants(context.folder / "prices")
    (child,) = psutil.Process(root).children()
    assert set(child.cpu_affinity()) == set(CPUS)
    assert prices.observe()["rss"] >= child.memory_info().rss // 2
    prices.stop()
    prices.stop()
    assert not psutil.pid_exists(root)
    assert not lives(child)
    assert not list(context.folder.glob("prices*"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"run": ["sh", "-c", "echo no ink; exit 4 # {port}"]}, "exited with code 4 before its port.*: no ink"),
        ({"run": ["sh", "-c", "exit 0 # {port}"]}, "exited with code 0 before.*, and said nothing.*foreground"),
        ({"run": ["sh", "-c", "sleep 60 # {port}"], "ready_s": 0.2}, "accepted no connection on port .* 0.2 s"),
        (
            {"run": ["sh", "-c", f"{sys.executable} {{scenario}}/prices.py $(({{port}} + 1))"], "ready_s": 5},
            r"listens on port \d+ instead of \d+.*give it \{port\}",
        ),
        ({"prepare": [["true"], ["sh", "-c", "echo empty >&2; false"]]}, "command 2 of `prepare` ended with 1: empty"),
    ],
)
def test_one_that_does_not_start_says_why_and_is_not_left(
    context: DependencyContext, change: dict[str, Any], said: str
) -> None:
    prices = Program("prices", "PRICES_URL", SETTINGS | change, context)
    with pytest.raises(DependencyError, match=f"(?s){said}"):
        prices.start()
    assert inhabitants(context.folder / "prices") == []


def test_one_that_somebody_else_runs_is_used_prepared_and_left_alone(
    prices: Program, context: DependencyContext
) -> None:
    settings = {key: value for key, value in SETTINGS.items() if key != "run"}
    settings["address"] = f"{prices.environment()['PRICES_URL']}/eu"
    outside = Program("prices", "PRICES_URL", settings, replace(context, variables={"PORT_OF_PRICES": "{port}"}))
    outside.start()
    assert outside.ask("stocked") == 2
    outside.reset({})
    outside.reset({})
    assert outside.ask("stocked") == 4
    given = outside.environment()
    assert given == {"PRICES_URL": settings["address"], "PORT_OF_PRICES": prices.environment()["PRICES_PORT"]}
    assert not outside.divisible
    assert (outside.pids(), outside.observe()) == ([], {})
    assert "not started by touchstone: it was made fresh by its `prepare` alone" in str(outside.not_done())
    assert prices.not_done() is None
    with pytest.raises(DependencyError, match="does not stop what somebody else runs"):
        outside.act("stop", {})
    with pytest.raises(DependencyError, match="cannot be divided"):
        outside.part()
    outside.stop()
    assert get(prices, "/price") == "42"
    prices.act("stop", {})
    gone = Program("prices", "PRICES_URL", {**settings, "ready_s": 0.2}, context)
    with pytest.raises(DependencyError, match=r"nothing accepts connections at 127\.0\.0\.1"):
        gone.start()


@pytest.mark.parametrize(
    ("address", "relayed"),
    [
        ("http://prices:8080/eu?peer=prices:8080", "http://127.0.0.1:7/eu?peer=prices:8080"),
        ("redis://me:a@b@Redis.Local:6379/0", "redis://me:a@b@127.0.0.1:7/0"),
        ("http://[::1]:8080", "http://127.0.0.1:7"),
        ("LocalHost:11211", "127.0.0.1:7"),
    ],
)
def test_a_relay_takes_the_place_of_any_address(context: DependencyContext, address: str, relayed: str) -> None:
    outside = Program("prices", "PRICES_URL", {"address": address}, context)
    assert outside.environment()["PRICES_URL"] == address
    outside.relay = ("127.0.0.1", "7")
    assert outside.environment()["PRICES_URL"] == relayed
    assert outside.address()["port"] == "7"
