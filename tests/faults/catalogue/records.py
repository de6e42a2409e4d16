"""States that this machine cannot be brought into, planted in the record of a run that was really measured."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.faults.catalogue.kinds import COMPILE
from tests.faults.setup import Server, Setup

GROUND = Setup(
    "ground",
    "a sound run, whose record the edits below start from",
    servers=(Server(program="sources", build=COMPILE), Server({"work_us": 20})),
    phases=("boot", "load"),
    rounds=3,
)

Document = dict[str, Any]


def each(pattern: str, change: Callable[[Document], object]) -> Callable[[Path], None]:
    """Change every file of the run that the pattern names."""

    def edit(folder: Path) -> None:
        files = sorted(folder.glob(pattern))
        if not files:
            raise FileNotFoundError(f"the recorded run has no {pattern}")
        for file in files:
            document = json.loads(file.read_text())
            change(document)
            file.write_text(json.dumps(document))

    return edit


def remove(pattern: str) -> Callable[[Path], None]:
    """Remove the files of the run that the pattern names."""

    def edit(folder: Path) -> None:
        files = sorted(folder.glob(pattern))
        if not files:
            raise FileNotFoundError(f"the recorded run has no {pattern}")
        for file in files:
            file.unlink()

    return edit


LOADS = "samples/*-load-one.plain-*.json"
ONE_LOAD = "samples/*-load-one.plain-*-r01.json"
TARES = "samples/*-load-tare-*.json"
BOOTS = "samples/*-boot-one.plain-*.json"


def _machine(**values: Any) -> Callable[[Document], object]:
    return lambda sample: sample.update(machine=(sample["machine"] or {}) | values)


def _result(*path: str, value: Any) -> Callable[[Document], object]:
    """Set a value deep in the engine's result."""

    def change(sample: Document) -> None:
        place = sample["evidence"]["result"]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value(place[path[-1]]) if callable(value) else value

    return change


def _drain(**log: Any) -> Callable[[Document], object]:
    """Make a sample that of a drain with this log."""

    def change(sample: Document) -> None:
        usual = {str(partition): 200 for partition in range(5)}
        sample.update(phase="drain", load=None, figures={}, proofs=[], checks=[])
        kept = {"lost": 0, "doubled": 0, "out_of_order": 0}
        sample["evidence"] = {"kind": "drain", "produced": usual, "consumed": usual} | kept | log

    return change


def _floor(*rates: float) -> Callable[[Document], object]:
    """Make a sample that of a floor, held against these rates without a limit."""

    def change(sample: Document) -> None:
        sample.update(phase="floor", load=None, proofs=[], checks=[])
        sample["figures"] = {"floor_passes": 8.0 * 2**20}
        sample["evidence"] = {"kind": "floor", "share": 0.9, "unlimited_rates": list(rates), "tries": []}

    return change


def _milliseconds(sample: Document) -> None:
    for name, value in sample["figures"].items():
        if name.startswith("latency"):
            sample["figures"][name] = value * 1000


def _longer(sample: Document) -> None:
    """A latency in the wrong unit, in every place alike."""
    for distribution in ("latency", "service"):
        for name, value in sample["evidence"]["result"][distribution].items():
            if name in {"min", "max", "mean", "stdev"} or name.startswith("p"):
                sample["evidence"]["result"][distribution][name] = value * 1000 if value else value
    _milliseconds(sample)


def _per_thread(sample: Document) -> None:
    sample["evidence"]["result"]["rate"]["achieved"] /= 4
    sample["figures"]["throughput"] /= 4


def _virtual(sample: Document) -> None:
    sample["figures"]["boot_rss"] = max(run["vm_peak"] or run["rss"] * 30 for run in sample["evidence"]["runs"])


def _cold(sample: Document) -> None:
    sample["figures"]["boot_first_response_cold"] = sample["figures"]["boot_first_response"]


def _early(sample: Document) -> None:
    run = sample["evidence"]["runs"][0]
    run["port_open_s"] = run["first_response_s"] * 2


def _same_order(plan: Document) -> None:
    plan["orders"] = [["one/plain", "two/plain"]] * 9


def _snapshot(plan: Document) -> None:
    plan["contenders"][0]["tools"] = {"java": "26-ea+nightly"}


def _fewer_bytes(sample: Document) -> None:
    sample["evidence"]["result"]["bytes"]["body"] //= 3
    sample["evidence"]["result"]["bytes"]["received"] //= 3


def _level(folder: Path) -> None:
    """Both contenders end at 96 % of the tare, with half of their CPU to spare."""
    tares = [json.loads(file.read_text())["evidence"]["result"]["rate"]["achieved"] for file in folder.glob(TARES)]
    rate = 0.96 * statistics.median(tares)

    def change(sample: Document) -> None:
        result = sample["evidence"]["result"]
        result["rate"]["achieved"] = sample["figures"]["throughput"] = rate
        result["watch"]["window"]["cpu_s"] = 0.5 * result["window"]["measured_s"]

    each("samples/*-load-*.plain-*.json", change)(folder)


def record(id: str, says: str, expects: tuple[str, ...], edit: Callable[[Path], None]) -> Setup:
    """A fault in the record of the ground run."""
    return Setup(id, says, expects, planted="record", edit=edit, servers=GROUND.servers)


RECORDS: tuple[Setup, ...] = (
    # Real servers would have to be level by 2 %, which takes a quieter machine than tests may ask for.
    record(
        "level-at-the-ceiling",
        "two contenders end level at the ceiling, with CPU to spare",
        ("level-at-ceiling",),
        _level,
    ),
    record(
        "swap",
        "the machine swapped 5,000 pages during the load",
        ("swapped",),
        each(ONE_LOAD, _machine(swap_out_pages=5000)),
    ),
    record(
        "steal",
        "the hypervisor took a tenth of the machine",
        ("cpu-stolen",),
        each(LOADS, _result("machine", "steal_s", value=0.2)),
    ),
    record(
        "slower-clock",
        "the CPU's clock rate fell by a fifth during the load",
        ("frequency-changed",),
        each(ONE_LOAD, _machine(frequency_mhz_before=[3000, 3000], frequency_mhz_after=[2400, 2400])),
    ),
    record(
        "clock-set-back",
        "the wall clock was set back by a minute",
        ("clock-stepped",),
        each(ONE_LOAD, _machine(wall_s=-58.0, monotonic_s=2.0)),
    ),
    record(
        "clock-set-and-put-back",
        "the wall clock was set back by three seconds within the window, and put right again",
        ("clock-stepped",),
        each(ONE_LOAD, _result("watch", "wall_clock", value={"step_s": -3.0, "t": 0.4, "range_s": 3.0})),
    ),
    record(
        "clock-set-between",
        "the wall clock was set between the sample's begin and the load's",
        ("clock-stepped",),
        each(ONE_LOAD, _result("window", "start_unix_s", value=lambda s: s + 3600)),
    ),
    record(
        "device-clock",
        "a reading of the clock costs 1.4 microseconds",
        ("clock-costly",),
        each(LOADS, _result("generator", "clock", value={"source": "acpi_pm", "cost_ns": 1400.0})),
    ),
    record(
        "unsteady-engine",
        "the engine says that it lost events",
        ("engine-withdraws",),
        each(
            ONE_LOAD,
            lambda s: s["evidence"]["result"]["generator"].update(stands=False, reasons=["the kernel lost events"] * 4),
        ),
    ),
    record(
        "two-engines",
        "one sample was measured by another version of the engine",
        ("mixed-provenance",),
        each(ONE_LOAD, _result("engine", "version", value="9.9.9")),
    ),
    record(
        "two-kernels",
        "one sample was measured under another kernel",
        ("mixed-provenance",),
        each(ONE_LOAD, _machine(kernel="4.4.0")),
    ),
    record(
        "two-scenarios",
        "one sample was measured with an earlier version of the scenario",
        ("mixed-provenance",),
        each(ONE_LOAD, lambda s: s.update(scenario_version=7)),
    ),
    record(
        "milliseconds",
        "latencies are given in milliseconds as if they were seconds",
        ("figures-unlike-evidence",),
        each(ONE_LOAD, _milliseconds),
    ),
    record(
        "wrong-unit-everywhere",
        "the latencies in evidence and figures are a thousand times too long",
        ("littles-law",),
        each(ONE_LOAD, _longer),
    ),
    record(
        "virtual-memory",
        "the virtual memory's peak is given as memory",
        ("figures-unlike-evidence",),
        each(BOOTS, _virtual),
    ),
    record(
        "mixed-columns",
        "p95 stands in p99's place",
        ("percentiles-not-monotone",),
        each(
            ONE_LOAD, lambda s: s["evidence"]["result"]["latency"].update(p99=s["evidence"]["result"]["latency"]["min"])
        ),
    ),
    record(
        "rate-a-thread",
        "the rate of one thread of four is given as the total",
        ("counts-contradict",),
        each(ONE_LOAD, _per_thread),
    ),
    record(
        "timeouts-left-out",
        "requests that were sent are in no count",
        ("counts-contradict",),
        each(ONE_LOAD, _result("counts", "ok", value=lambda n: n * 9 // 10)),
    ),
    record(
        "fewer-bytes",
        "a third of the bytes were received that right bodies have",
        ("bytes-unlike-bodies",),
        each(ONE_LOAD, _fewer_bytes),
    ),
    record(
        "answer-before-port",
        "the first answer came before the port was open",
        ("boot-impossible",),
        each(BOOTS, _early),
    ),
    record("warm-cold-start", "a start with a warm page cache is called cold", ("cache-not-cold",), each(BOOTS, _cold)),
    record(
        "warm-build",
        "the build called cold found yesterday's objects",
        ("build-not-cold",),
        each("samples/*-build-one.plain.json", lambda s: s["evidence"].update(cold=False)),
    ),
    record(
        "unproven-build",
        "nothing proves that the build called cold was",
        ("build-not-cold",),
        each("samples/*-build-one.plain.json", lambda s: s["evidence"].update(cold_proof=[])),
    ),
    record(
        "same-order",
        "the contenders came in the same order in all of nine rounds",
        ("order-not-drawn",),
        each("plan.json", _same_order),
    ),
    record(
        "unchecked",
        "the contract's check is not in the record",
        ("contract-not-checked",),
        remove("samples/*-verify-one.plain.json"),
    ),
    record("no-tares", "there are no tares", ("tare-missing",), remove(TARES)),
    record(
        "missing-round",
        "the second round of one contender is missing",
        ("rounds-incomplete",),
        remove("samples/*-load-one.plain-*-r02.json"),
    ),
    record("snapshot", "a tool is a nightly build", ("snapshot-versions",), each("plan.json", _snapshot)),
    record(
        "unanswered",
        "5,000 requests were still without an answer when the load ended",
        ("requests-unanswered",),
        each(ONE_LOAD, lambda s: s["evidence"]["result"]["counts"].update(unanswered=5000)),
    ),
    record(
        "lost-messages",
        "three messages of a drain were never processed",
        ("messages-lost",),
        each(ONE_LOAD, _drain(lost=3)),
    ),
    record(
        "doubled-messages",
        "three messages of a drain were processed two times",
        ("messages-doubled",),
        each(ONE_LOAD, _drain(doubled=3)),
    ),
    record(
        "unordered-messages",
        "two messages of a partition were processed after later ones",
        ("order-broken",),
        each(ONE_LOAD, _drain(out_of_order=2)),
    ),
    record(
        "unequal-partitions",
        "one of five partitions holds half of the messages",
        ("partitions-unbalanced",),
        each(ONE_LOAD, _drain(produced={"0": 500, "1": 125, "2": 125, "3": 125, "4": 125})),
    ),
    record(
        "built-beside-another",
        "another build had half of the machine while this one was timed",
        ("build-disturbed",),
        each("samples/*-build-one.plain*.json", _machine(wall_s=10.0, other_cpu_s=9.0, steal_s=0.0)),
    ),
    record(
        "floor-against-a-moving-rate",
        "the rate without a limit fell by a quarter while limits were tried against nine tenths of it",
        ("floor-unsteady",),
        each(ONE_LOAD, _floor(1431.5, 1069.5)),
    ),
)

_BY_RULE = "a record of tests/judge/rules holds it: "

NOT_PLANTABLE: dict[str, str] = {
    "aot-cache-refused": _BY_RULE + "it needs a JVM; tests/bench/test_aot_cache.py has real ones",
    "aot-cache-stale": _BY_RULE + "it needs a JVM; tests/bench/test_aot_cache.py has real ones",
    "capacity-beyond-generator": _BY_RULE + "the server would have to be faster than the null server",
    "capacity-disturbed": _BY_RULE + "a search would take minutes beside other work",
    "capacity-uncertain": _BY_RULE + "a search of many minutes would have to end without settling",
    "events-buffered": _BY_RULE + "tests/engine/test_streams.py has a proxy that buffers",
    "events-lost": _BY_RULE + "tests/engine/test_streams.py has services that lose, double and reorder events",
    "fault-not-in-time": _BY_RULE + "the lab itself would have to be starved",
    "generator-throttled": _BY_RULE + "it needs a CPU quota on the lab itself",
    "generators-apart": _BY_RULE + "it needs generators on several machines",
    "requests-cut-at-sigterm": _BY_RULE + "tests/phase/test_ending_with_clients.py has services that cut requests",
    "stop-client-late": _BY_RULE + "the engine itself would have to be starved",
    "joining-busy": _BY_RULE + "it needs a Ray cluster of several machines",
    "profile-copy-differs": _BY_RULE + "it needs a runtime that is profiled in a copy with other flags",
    "profiler-costly": _BY_RULE + "it needs a profiler that costs more than the usual ones",
}
"""Codes of the registry without a fault here, with the reason."""
