"""Several generators as one: load processes behind sockets, each as a node of a cluster would have it."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, cast
from urllib.request import Request, urlopen

import pytest

from tests.engine.machines import Machine, machines
from touchstone.engine.client import EngineError, Event, run_job
from touchstone.engine.protocol import GeneratorNode, LoadJob, SlicesJob
from touchstone.engine.slices import SlicesResult, SlicesSession, Turn, TurnRecord
from touchstone.record.engine import LoadResult
from touchstone.traffic.null_server import server


def load(url: str, nodes: list[GeneratorNode], **changes: Any) -> LoadJob:
    job: LoadJob = {
        "url": url,
        "connections": 7,
        "threads": len(nodes),
        "warmup_s": 0.2,
        "duration_s": 1.0,
        "series_interval_s": 0.1,
        "requests": [{"target": "/echo?id={counter}"}],
        "generators": nodes,
    }
    return cast("LoadJob", {**job, **changes})


def echo_stats(url: str) -> Any:
    with urlopen(f"{url}/_stats", timeout=5) as answer:
        return json.load(answer)


def test_rate_connections_and_counters_are_divided_exactly(tmp_path: Path) -> None:
    with server("echo", ["--delay-ms=0"], [0]) as echo, machines(tmp_path, 3) as found:
        urlopen(Request(f"{echo.url}/_reset", method="POST"), timeout=5).close()
        job = load(
            echo.url,
            [machine.node() for machine in found],
            loop={"kind": "open", "rate": 300.0},
        )
        result = run_job("load", job, LoadResult)
        ids = echo_stats(echo.url)["ids"]
    assert [part.name for part in result.generators] == ["node-0", "node-1", "node-2"]
    assert [part.connections for part in result.generators] == [3, 2, 2]
    assert result.counts.sent == 300 == sum(part.sent for part in result.generators)
    assert max(part.sent for part in result.generators) - min(part.sent for part in result.generators) <= 1
    assert ids["duplicates"] == 0 and ids["distinct"] == result.totals.sent
    assert result.latency.count == result.counts.ok == result.requests[0].latency.count
    # The series of all, on one clock: no interval of the window lacks a generator's part.
    window = [point.sent for point in result.series if point.phase == "load"]
    # A request that a busy machine sends late counts where it was sent, which may be after the window.
    assert 200 <= sum(window) <= 310 and sum(sent > 0 for sent in window) > len(window) / 2


def test_a_clock_that_is_ahead_is_brought_home(tmp_path: Path) -> None:
    """The generator believes that its clock is ahead by 1 s, which is wrong: so it begins 1 s later."""
    with server("null", [], [0]) as null, machines(tmp_path, 2) as found:
        nodes = [found[0].node(), found[1].node(clock_ahead_s=1.0)]
        result = run_job("load", load(null.url, nodes), LoadResult)
    assert result.window.measured_s == pytest.approx(1.0, abs=1e-6)
    # It starts late by our clock, on time by its own, and its report is moved back: nothing of the shift is left.
    assert all(part.began_s < 1.0 for part in result.generators)
    assert result.generators[1].clock_ahead_s == 1.0
    assert result.counts.sent == sum(part.sent for part in result.generators)


def test_a_lost_generator_ends_the_window_and_is_named(tmp_path: Path) -> None:
    with server("null", [], [0]) as null, machines(tmp_path, 2) as found:

        def end_one(event: Event) -> None:
            if event.get("event") == "phase" and event.get("name") == "load":
                found[1].processes[0].kill()

        job = load(null.url, [machine.node() for machine in found], duration_s=60.0)
        begun = time.monotonic()
        with pytest.raises(EngineError, match="generator node-1"):
            run_job("load", job, LoadResult, on_event=end_one)
        assert time.monotonic() - begun < 30, "the others went on to the end of the window"


def test_a_generator_that_is_not_there_is_named(tmp_path: Path) -> None:
    with server("null", [], [0]) as null, machines(tmp_path, 1) as found:
        nodes = [found[0].node(), found[0].node(name="nowhere", link=str(tmp_path / "none"))]
        with pytest.raises(EngineError, match="reaching generator nowhere"):
            run_job("load", load(null.url, nodes), LoadResult)


def test_rows_go_to_machines_that_have_no_such_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows.csv").write_text("id\n" + "\n".join(f"row-{number}" for number in range(10_000)))
    # The machines' processes are in another folder, where this name leads nowhere.
    monkeypatch.chdir(tmp_path)
    with server("echo", ["--delay-ms=0"], [0]) as echo, machines(tmp_path, 2) as found:
        urlopen(Request(f"{echo.url}/_reset", method="POST"), timeout=5).close()
        nodes = [machine.node() for machine in found]
        asked = [{"target": "/echo?id={row.id}"}]
        limited = {"max_requests": 600, "warmup_s": 0.0, "rows": "rows.csv", "requests": asked}
        result = run_job("load", load(echo.url, nodes, **limited), LoadResult)
        ids = echo_stats(echo.url)["ids"]
    assert result.counts.sent == 600 == result.counts.ok == ids["distinct"] and ids["duplicates"] == 0


def in_turns(urls: Sequence[str], nodes: Sequence[GeneratorNode], **changes: Any) -> SlicesJob:
    """A slices job over these servers."""
    traffic = {"connections": 7, "timeout_s": 2.0, "requests": [{"target": "/echo?id={counter}"}], **changes}
    contenders = [{"name": f"c{index}", "job": {"url": url, **traffic}} for index, url in enumerate(urls)]
    return cast("SlicesJob", {"threads": len(nodes), "contenders": contenders, "generators": list(nodes)})


def carried_out(
    job: SlicesJob, laps: int, count: int, phase: Literal["warmup", "load"] = "load"
) -> tuple[list[TurnRecord], SlicesResult]:
    with SlicesSession(job, 2.0, lambda _event: None) as session:
        records = session.turns(phase, [Turn(index, 0.15) for _ in range(laps) for index in range(count)])
        return records, session.finish(0.0)


def test_slices_of_several_generators_are_one_slice_each(tmp_path: Path) -> None:
    with (
        server("echo", ["--delay-ms=0"], [0]) as one,
        server("echo", ["--delay-ms=2"], [0]) as other,
        machines(tmp_path, 3) as found,
    ):
        urls = [one.url, other.url]
        for url in urls:
            urlopen(Request(f"{url}/_reset", method="POST"), timeout=5).close()
        records, result = carried_out(in_turns(urls, [machine.node() for machine in found]), 4, 2)
        asked = [echo_stats(served.url) for served in (one, other)]
    assert [record.contender for record in records] == [0, 1] * 4
    for before, after in itertools.pairwise(records):
        assert before.end <= after.begin, "one contender's slice after another's, whichever generator loads"
    for index, whole in enumerate(result.contenders):
        own = [record for record in records if record.contender == index]
        assert asked[index]["ids"]["duplicates"] == 0, "no two generators send the same counter"
        assert asked[index]["ids"]["distinct"] == whole.totals.sent == sum(record.sent for record in own)
        assert [part.connections for part in whole.generators] == [3, 2, 2]
        assert sum(part.sent for part in whole.generators) == whole.counts.sent
        assert all(part.ok > 0 and part.errors == 0 for part in whole.generators)
        # Histograms are added: nothing is lost, and nothing is counted twice.
        assert whole.latency is not None and whole.latency.count == sum(r.latency.count for r in own if r.latency)
        assert all(record.began_s is not None and record.began_s < 0.5 for record in own)
        assert all(record.rate and record.generations for record in own)


def test_an_open_rate_in_slices_is_divided_exactly(tmp_path: Path) -> None:
    with server("null", [], [0]) as null, machines(tmp_path, 2) as found:
        job = in_turns(
            [null.url],
            [machine.node() for machine in found],
            loop={"kind": "open", "rate": 400.0},
        )
        records, result = carried_out(job, 4, 1)
    assert sum(record.sent for record in records) == pytest.approx(400 * 0.15 * 4, abs=2)
    assert all(record.offered == pytest.approx(400, rel=0.05) for record in records)
    parts = [part.sent for part in result.contenders[0].generators]
    assert abs(parts[0] - parts[1]) <= 2


def test_a_clock_that_was_compared_badly_is_corrected_and_its_turns_brought_home(tmp_path: Path) -> None:
    """The generator believes that its clock is ahead by 4 ms, which is wrong: the first trip shows it."""
    with server("null", [], [0]) as null, machines(tmp_path, 2) as found:
        nodes = [found[0].node(), found[1].node(clock_ahead_s=0.004)]
        records, _ = carried_out(in_turns([null.url], nodes), 6, 1)
    late = sorted(record.began_s or 0.0 for record in records)
    assert late[0] < 0.003, late
    assert all(record.end - record.sending_end < 0.5 for record in records)


def test_a_clock_that_steps_between_turns_is_named(tmp_path: Path) -> None:
    settled = itertools.count()

    def stepping(line: bytes) -> bytes:
        said = json.loads(line)
        if "Settled" in said and next(settled) > 0:
            said["Settled"]["clock"] += 3_000_000_000
        return json.dumps(said).encode() + b"\n"

    stepped = Machine(tmp_path, "stepped", stepping)
    try:
        with server("null", [], [0]) as null, machines(tmp_path, 1) as found:
            job = in_turns([null.url], [found[0].node(), stepped.node()])
            with pytest.raises(EngineError, match=r"generator stepped: its clock has moved by [23]\d{3}\.\d ms"):
                carried_out(job, 3, 1)
    finally:
        stepped.end()


def test_how_a_process_ended_after_its_report_is_no_failure(tmp_path: Path) -> None:
    told = Machine(tmp_path, "told", lambda line: line)
    try:
        with server("null", [], [0]) as null:
            records, result = carried_out(in_turns([null.url], [told.node()]), 2, 1)
            whole = run_job("load", load(null.url, [told.node()]), LoadResult)
    finally:
        told.end()
    assert len(records) == 2 and result.contenders[0].counts.ok > 0 and whole.counts.ok > 0


def test_a_generator_lost_between_slices_is_named_and_nothing_hangs(tmp_path: Path) -> None:
    with server("null", [], [0]) as null, machines(tmp_path, 2) as found:
        job = in_turns([null.url], [machine.node() for machine in found])
        with SlicesSession(job, 2.0, lambda _event: None) as session:
            session.turns("warmup", [Turn(0, 0.1)])
            found[1].processes[0].kill()
            begun = time.monotonic()
            with pytest.raises(EngineError, match="generator node-1: it ended without its report"):
                session.turns("load", [Turn(0, 0.1)] * 3)
            assert time.monotonic() - begun < 20
