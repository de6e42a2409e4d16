import random

import pytest

from touchstone.judge.judgement import Finding, Severity
from touchstone.record.connections import Sent
from touchstone.record.process import Written
from touchstone.record.run import Run
from touchstone.record.sample import TARE

from ..slices import sliced_run
from ..sound import fired, loads, result_of, sound_run, sqlite

NAMES = ("go/std", "rust/std", "kotlin/jvm")
LINE = 80


def written(run: Run, contender: str, ways: dict[str, float], start: int = 4_000) -> None:
    """Bytes per response by each way, in the process of each round. `answers`: responses go by `write`, too."""
    for sample in loads(run, contender):
        result = result_of(sample)
        answered = max(result.totals.completed, result.counts.completed)
        if ways.get("answers"):
            received = result.bytes.received / result.counts.completed
            ways = ways | {"calls": ways.get("calls", 0) + received, "writes": ways.get("writes", 0) + 1}
        counts = {way: start + int(each * answered) for way, each in ways.items() if way != "answers"}
        sample.dependencies = []
        sample.process.id = f"{contender}-{sample.round}"
        sample.process.written = Written(**(counts | {"writes": int(ways.get("writes", 0) * answered)}))
        ways = ways | {"answers": 0}


def one_of_three(ways: dict[str, float]) -> list[Finding]:
    """What is found where one of three contenders writes by these ways."""
    run = sound_run()
    for name in NAMES:
        written(run, name, ways if name == "rust/std" else {})
    return fired(run, "writes-unequal")


@pytest.mark.parametrize(
    "ways",
    [
        {"calls": LINE, "writes": 1},
        {"calls": LINE, "writes": 1, "answers": 1},
        {"dirtied": LINE},
        {"mapped": LINE},
        {"piped": LINE},
    ],
    ids=["calls", "calls-and-responses", "dirtied", "mapped", "piped"],
)
def test_who_alone_writes_beside_its_responses_is_named(ways: dict[str, float]) -> None:
    (finding,) = one_of_three(ways)
    assert (finding.contender, finding.severity) == ("rust/std", Severity.SUSPECT)
    assert finding.doubt is not None
    assert (finding.doubt.faster, finding.doubt.slower) == (None, 1.0)


@pytest.mark.parametrize(
    "ways",
    [
        {"answers": 1},
        {"calls": 24, "writes": 3},
        {"calls": 8, "writes": 1, "answers": 1},
        {"mapped": 4},
        {"dirtied": 6},
    ],
    ids=["responses-by-write", "threads-that-wake-each-other", "both", "a-line-now-and-then", "pages-of-counters"],
)
def test_responses_and_threads_that_wake_each_other_are_no_log(ways: dict[str, float]) -> None:
    assert one_of_three(ways) == []


def test_a_log_that_is_known_is_not_named_twice() -> None:
    run = sound_run()
    for name in NAMES:
        written(run, name, {"calls": LINE, "writes": 1, "dirtied": LINE} if name == "rust/std" else {})
        for sample in loads(run, name):
            sample.process.log = f"logs/{name}-{sample.round}.log"
            sample.process.log_bytes = LINE * result_of(sample).counts.completed if name == "rust/std" else 0
    assert fired(run, "writes-unequal") == []
    assert [finding.contender for finding in fired(run, "logs-unequal")] == ["rust/std"]


def test_with_a_dependency_writes_may_be_queries_and_pipes_may_not() -> None:
    run = sound_run()
    for name in NAMES:
        written(run, name, {"calls": 900, "writes": 2, "dirtied": 4096} if name == "rust/std" else {})
        for sample in loads(run, name):
            sample.dependencies = [sqlite()]
    assert fired(run, "writes-unequal") == []
    written(run, "rust/std", {"piped": LINE})
    for sample in loads(run):
        sample.dependencies = [sqlite()]
    assert [finding.contender for finding in fired(run, "writes-unequal")] == ["rust/std"]


def test_a_start_and_records_that_do_not_say() -> None:
    run = sound_run()
    assert fired(run, "writes-unequal") == []
    for name in NAMES:
        written(run, name, {"calls": 0, "mapped": 0, "piped": 0}, start=30_000 if name == "rust/std" else 0)
    assert fired(run, "writes-unequal") == []


def over_network(
    elsewhere: dict[str, float],
    *,
    datagrams: dict[str, float] | None = None,
    noise: float = 0.0,
    dependency: bool = False,
) -> list[Finding]:
    """Bytes and datagrams per response to others than clients; `noise` is bytes per second of other programs."""
    dice = random.Random(4)
    run = sliced_run(dict.fromkeys(NAMES, 10_000.0) | {"kotlin/jvm": 500.0}, rounds=2)
    for sample in run.samples:
        if sample.slices is None:
            continue
        result = result_of(sample)
        each = (result.bytes.sent + result.bytes.received) / result.counts.completed
        more, count = elsewhere.get(sample.contender, 0.0), (datagrams or {}).get(sample.contender, 0.0)
        if sample.contender != TARE:
            sample.process.id, sample.process.written = f"{sample.contender}-{sample.round}", Written()
            sample.dependencies = [sqlite()] if dependency else []
        for one in sample.slices.slices:
            others = dice.uniform(0.5, 1.5) * noise * (one.end - one.begin)
            one.network = Sent(
                datagrams=int(count * one.completed),
                segments=3 * one.completed,
                octets=int((each + 3 * 52 + more) * one.completed + others),
            )
    return fired(run, "writes-unequal")


def test_a_log_to_a_collector_is_seen_in_what_the_machine_sent() -> None:
    (finding,) = over_network({"rust/std": 90.0})
    assert finding.contender == "rust/std"
    assert over_network({"rust/std": 90.0}, noise=50_000.0)


def test_other_programs_that_send_are_no_log_of_a_slow_contender() -> None:
    assert over_network({}, noise=5_000_000.0) == []


def test_all_of_them_is_no_difference() -> None:
    assert over_network(dict.fromkeys(NAMES, 90.0)) == []


def test_with_a_dependency_only_datagrams_count() -> None:
    assert over_network({"rust/std": 900.0}, dependency=True) == []
    (finding,) = over_network({"rust/std": 90.0}, datagrams={"rust/std": 1.0}, dependency=True)
    assert finding.contender == "rust/std"
