"""`touchstone ab URL1 URL2`: one request to two real servers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_load import null_server
from tests.run.test_end_to_end import touchstone
from tests.run.test_outside import service
from touchstone.bench.outside import read_outside
from touchstone.failure import InvalidRunError, UsageError
from touchstone.isolation.cgroup import create_cgroup
from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.manifest.template import literal
from touchstone.run.two_urls import UrlQuestion, one_request

TERMS = ComparisonTerms(margin=0.05, confidence=0.95, figures={"throughput": None})


@pytest.mark.slow
def test_two_services_are_compared_with_memory_and_cpu_of_their_processes(tmp_path: Path) -> None:
    group = create_cgroup()
    with service(tmp_path / "a") as (first, one), service(tmp_path / "b") as (second, two):
        words = ["--pid", f"base={one}", "--pid", f"head={two}", "--margin", "40%", "--minutes", "3"]
        if group is not None:  # The head by a group of its own, as a container has one.
            group.join(two)
            words[2:4] = ["--cgroup", f"head={group.paths['memory']}"]
        done = touchstone(tmp_path, "ab", f"{first}/ping", f"{second}/ping", "--json", *words)
    if group is not None:
        group.remove()
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert (said["base"], said["head"], said["standing"]) == (f"{first}/ping", f"{second}/ping", "passed")
    figures = {change["figure"]: change for change in said["changes"]}
    assert figures.keys() == {"throughput", "latency_p50", "cpu_per_request", "rss_peak"}
    assert figures["rss_peak"]["before"] > 2**20
    assert figures["throughput"]["low"] is not None


def test_the_right_answer_is_the_one_that_both_give(tmp_path: Path) -> None:
    with service(tmp_path / "a") as (first, _), service(tmp_path / "b") as (second, _):
        pair = read_outside("base", first), read_outside("head", second)
        folder, notes = one_request(pair, UrlQuestion(TERMS, "/ping?{braces}"))
        assert (folder.scenario.loads["request"].requests[0].target, notes) == (literal("/ping?{braces}"), [])
        assert folder.scenario.ready.expect.body == "pong"
        folder, _ = one_request(pair, UrlQuestion(TERMS, "/nowhere", status=404))
        assert folder.scenario.ready.expect.body == "not found"


def test_services_that_answer_otherwise_are_told_apart_or_refused(tmp_path: Path) -> None:
    with service(tmp_path / "a") as (first, _), service(tmp_path / "b", "200-on-unknown-path") as (second, _):
        pair = read_outside("base", first), read_outside("head", second)
        with pytest.raises(InvalidRunError, match="base answers 404; head answers 200"):
            one_request(pair, UrlQuestion(TERMS, "/nowhere"))
        with pytest.raises(InvalidRunError, match="the right answer would be 201, but"):
            one_request(pair, UrlQuestion(TERMS, "/ping", status=201))
        with pytest.raises(UsageError, match="both answer 405"):
            one_request(pair, UrlQuestion(TERMS, "/ping", method="POST"))
    with service(tmp_path / "a") as (first, _), service(tmp_path / "b", "wrong-body") as (second, _):
        folder, notes = one_request(
            (read_outside("base", first), read_outside("head", second)), UrlQuestion(TERMS, "/ping")
        )
        assert folder.scenario.ready.expect.body is None
        assert "not checked" in notes[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["http://127.0.0.1:1/a", "http://127.0.0.1:1/b"], "name two requests: /a and /b"),
        (["http://127.0.0.1:1/a", "http://127.0.0.1:1/a"], "nothing listens"),
        (["127.0.0.1:1/a", "http://127.0.0.1:1/a"], "write http://127.0.0.1:1/a"),
        (["localhost:1/a", "localhost:2/a"], 'url "localhost:1/a": it must begin with http://'),
        (["http://127.0.0.1:1/a", "http://127.0.0.1:1/a", "--figure", "rss_peak"], "--pid base=PID"),
        (["http://127.0.0.1:1/a", "http://127.0.0.1:1/a", "--figure", "boot_rss"], "not a figure of a load"),
        (["http://127.0.0.1:1/a"], "http://127.0.0.1:1/a has nothing to be compared with"),
        (["http://127.0.0.1:1/a", "http://127.0.0.1:2/a", "--stack", "go"], "--stack is an option of two revisions"),
        (["http://127.0.0.1:1/a", "http://127.0.0.1:2/a", "--github"], "--github is an option of two revisions"),
        (["main", "--pid", "base=1"], "--pid is an option of two URLs, and these are two revisions"),
        (["main", "HEAD", "-X", "GET"], "--method is an option of two URLs"),
    ],
)
def test_bad_input_is_named(tmp_path: Path, words: list[str], said: str) -> None:
    done = touchstone(tmp_path, "ab", *words)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert not (tmp_path / "results").exists()


def test_a_redirect_is_no_answer_to_compare_unless_it_is_asked_for() -> None:
    with null_server("--status", "302") as first, null_server("--status", "302") as second:
        pair = read_outside("base", first.rstrip("/")), read_outside("head", second.rstrip("/"))
        with pytest.raises(UsageError, match="both answer 302, which leads elsewhere"):
            one_request(pair, UrlQuestion(TERMS, "/"))
        folder, _ = one_request(pair, UrlQuestion(TERMS, "/", status=302))
    assert folder.scenario.ready.expect.status == 302


def test_the_former_name_is_still_taken(tmp_path: Path) -> None:
    done = touchstone(tmp_path, "ab-url", "http://127.0.0.1:1/a", "http://127.0.0.1:1/b")
    assert done.returncode == 2
    assert "name two requests: /a and /b" in " ".join(done.stderr.split())
