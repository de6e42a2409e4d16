"""A sound run, as the lab would record it: the ground in which each test plants its fault."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Finding
from touchstone.record.boot_result import BootRun
from touchstone.record.connections import Connections
from touchstone.record.distribution import Distribution
from touchstone.record.engine import (
    ByteCounts,
    Counts,
    EngineIdentity,
    LoadResult,
    Machine,
    Point,
    Rate,
    RequestResult,
    Window,
)
from touchstone.record.evidence.boot import BootEvidence
from touchstone.record.evidence.build import BuildEvidence
from touchstone.record.evidence.load import LoadEvidence
from touchstone.record.generator import Clock, Generator, Thread
from touchstone.record.load_spec import LoadSpec, spec_of_job
from touchstone.record.process import Placement, Process
from touchstone.record.run import ContenderPlan, Environment, Plan, Run
from touchstone.record.sample import TARE, CheckOutcome, DependencyState, ProofOutcome, Sample
from touchstone.record.watch import Snapshot, Watch, WatchPoint, WatchWindow

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
BODY = "Boom! We found you: ada"
MIB = 1 << 20
CONTENDERS = {"go/std": 20_000.0, "rust/std": 26_000.0, "kotlin/jvm": 15_000.0}
TARE_RATE = 60_000.0


def snapshot(point: WatchPoint) -> Snapshot:
    """What was seen at a point of the watch, as if it had been looked at there by itself."""
    return Snapshot.model_validate(point.model_dump())


def distribution(mean: float, count: int) -> Distribution:
    """A right-skewed latency distribution around a mean in seconds."""
    return Distribution(
        count=count,
        min=mean * 0.2,
        max=mean * 9,
        mean=mean,
        stdev=mean * 0.6,
        p50=mean * 0.9,
        p75=mean * 1.2,
        p90=mean * 1.6,
        p95=mean * 2.0,
        p99=mean * 3.0,
        p99_9=mean * 5.0,
        p99_99=mean * 7.0,
        curve=[(0.5, mean * 0.9), (0.9, mean * 1.6), (0.99, mean * 3.0), (1.0, mean * 9)],
    )


def load_result(
    rate: float,
    *,
    seconds: float = 10.0,
    connections: int = 64,
    offered: float | None = None,
    rng: random.Random | None = None,
    cpu_per_request: float = 20e-6,
    server_busy: float | None = None,
    engine_busy: float = 0.5,
) -> LoadResult:
    """What the engine writes after a load without fault, closed loop unless a rate is offered."""
    rng = rng or random.Random(1)
    count = round(rate * seconds)
    mean = connections / rate if offered is None else 0.2 * connections / rate
    cpu = count * cpu_per_request if server_busy is None else server_busy * seconds
    latency = distribution(mean, count)
    late = 2e-6 if offered is None else 60e-6
    steps = max(1, int(seconds))
    per_point = [round(count / steps * rng.gauss(1, 0.01)) for _ in range(steps)]
    warm = [Point(t=float(t), phase="warmup", sent=int(rate), ok=int(rate)) for t in (1, 2)]
    points = warm + [
        Point(
            t=2.0 + i + 1,
            sent=n,
            ok=n,
            p50=mean * 0.9,
            p99=mean * 3,
            max=mean * 7,
            connections=connections,
        )
        for i, n in enumerate(per_point)
    ]
    watch = [
        WatchPoint(
            t=0.1 * (i + 1),
            phase="warmup" if i < 20 else "load",
            cpu_s=cpu / seconds * 0.1 * (i + 1),
            rss=60 * MIB,
            pss=58 * MIB,
            anon=40 * MIB,
            threads=8,
            fds=connections + 12,
            processes=1,
        )
        for i in range(20 + int(seconds * 10))
    ]
    kind: dict[str, Any] = (
        {"kind": "closed"} if offered is None else {"kind": "open", "rate": offered, "arrivals": "uniform"}
    )
    return LoadResult(
        engine=EngineIdentity(version="0.1.0", git="abc", backend="epoll"),
        job={
            "loop": kind,
            "connections": connections,
            "pipeline": 1,
            "keepalive": True,
            "timeout_s": 5.0,
            "requests": [
                {
                    "name": "lookup",
                    "method": "GET",
                    "target": "/?name=ada",
                    "expect": {"status": [200], "body": {"kind": "exact", "value": BODY}},
                }
            ],
        },
        window=Window(start_unix_s=START.timestamp(), warmup_s=2.0, measured_s=seconds, drain_s=0.01),
        counts=Counts(sent=count, completed=count, ok=count, status={"200": count}),
        requests=[RequestResult(name="lookup", sent=count, ok=count, latency=latency)],
        bytes=ByteCounts(sent=count * 60, received=count * (120 + len(BODY)), body=count * len(BODY)),
        rate=Rate(offered=offered, achieved=count / seconds),
        latency=latency,
        service=distribution(mean * 0.98, count),
        connect=distribution(30e-6, connections),
        lateness=Distribution(
            count=count, min=0, p50=late, p75=late, p90=late, p95=late, p99=late * 3, max=late * 20, mean=late
        ),
        connections=Connections(asked=connections, established=connections, held=connections, opened=connections),
        generator=Generator(
            threads=[Thread(cpu=1, user_s=seconds * 0.2, system_s=seconds * 0.3, busy=engine_busy)],
            cpu_s=seconds * engine_busy,
            rss_peak=8 * MIB,
            syscalls=2 * count,
            clock=Clock(source="CLOCK_MONOTONIC (tsc)", cost_ns=25.0),
        ),
        series=points,
        watch=Watch(
            series=watch,
            window=WatchWindow(cpu_s=cpu, user_s=cpu / 2, system_s=cpu / 2, rss_peak=60 * MIB, major_faults=0),
            at_start=snapshot(watch[0]),
            at_load_end=snapshot(watch[-1]),
            at_idle_end=snapshot(watch[-1]),
        ),
        machine=Machine(steal_s=0.0, other_cpu_s=0.02 * seconds),
    )


def ended(result: LoadResult, **classes: int) -> None:
    """Has requests of a load end without a correct response, by class."""
    counts = result.counts
    for name, count in classes.items():
        setattr(counts.errors, name, count)
    counts.wrong = sum(count for name, count in counts.errors if name.startswith("wrong_"))
    counts.failed = sum(count for _, count in counts.errors) - counts.wrong
    counts.ok = counts.sent - counts.not_right
    counts.completed = counts.ok + counts.wrong


def load_figures(result: LoadResult) -> dict[str, float]:
    """The figures of a load, as the phase derives them."""
    d, watch = result.latency, result.watch
    assert watch and watch.window.cpu_s is not None and watch.window.rss_peak is not None
    figures = {
        "throughput": result.rate.achieved,
        "latency_mean": d.mean,
        "latency_p50": d.p50,
        "latency_p90": d.p90,
        "latency_p99": d.p99,
        "latency_p99_9": d.p99_9,
        "latency_max": d.max,
        "cpu_per_request": watch.window.cpu_s / max(1, result.counts.ok),
        "rss_peak": float(watch.window.rss_peak),
        "error_share": result.counts.error_share,
    }
    return {name: value for name, value in figures.items() if value is not None}


def boot_sample(contender: str, at: datetime, rng: random.Random, slow: float = 1.0) -> Sample:
    """Twenty boots of a contender."""
    runs = [
        BootRun(
            first_response_s=0.02 * slow * rng.lognormvariate(0, 0.05),
            port_open_s=0.015 * slow,
            rss=30 * MIB,
            pss=28 * MIB,
            anon=12 * MIB,
            vm_peak=900 * MIB,
            threads=8,
            cpu_s=0.01,
            answered_by_ours=True,
            stopped="sigterm",
            exit_code=0,
        )
        for _ in range(20)
    ]
    times = sorted(r.first_response_s or 0.0 for r in runs)
    for r in runs:
        r.port_open_s = (r.first_response_s or 0.0) * 0.8
    return Sample(
        id=f"boot-{contender}",
        phase="boot",
        scenario="users",
        contender=contender,
        round=None,
        started_at=at,
        took_s=5.0,
        figures={"boot_first_response": times[10], "boot_rss": 30.0 * MIB, "boot_anon": 12.0 * MIB},
        process=Process(placement=Placement(server_cpus=[0], engine_cpus=[1])),
        evidence=BootEvidence(runs=runs),
    )


def build_sample(contender: str, at: datetime) -> Sample:
    """A cold and a warm build."""
    return Sample(
        id=f"build-{contender}",
        phase="build",
        scenario="users",
        contender=contender,
        started_at=at,
        took_s=20.0,
        figures={"build_cold": 15.0, "build_warm": 2.0, "artifact_bytes": 8.0 * MIB},
        evidence=BuildEvidence(
            commands=[["make"]],
            cold=True,
            cold_proof=["the build folder was empty"],
            artifacts={"server": 8 * MIB},
        ),
    )


def verify_sample(contender: str, at: datetime) -> Sample:
    """A contract that holds."""
    return Sample(
        id=f"verify-{contender}",
        phase="verify",
        scenario="users",
        contender=contender,
        started_at=at,
        took_s=2.0,
        checks=[CheckOutcome(id="unknown-path", says="an unknown path is 404", passed=True)],
    )


def load_sample(
    contender: str,
    round_: int,
    result: LoadResult,
    *,
    load: str = "lookup",
    at: datetime = START,
    position: int = 0,
    dependencies: list[DependencyState] | None = None,
) -> Sample:
    """One load of one contender in one round."""
    result.window.start_unix_s = at.timestamp() + 1.0
    tare = contender == TARE
    return Sample(
        id=f"load-{load}-{contender}-{round_}",
        phase="load",
        scenario="users",
        contender=contender,
        load=load,
        round=round_,
        position=position,
        started_at=at,
        took_s=result.window.measured_s + 5.0,
        figures=load_figures(result),
        process=Process(
            placement=Placement(server_cpus=[0], engine_cpus=[1]),
            env={"DATABASE_PATH": "users.db", "POOL_SIZE": "10"},
            argv=["./server"],
        ),
        spec=LoadSpec.model_validate(spec_of_job(result.job) | {"title": "Lookups"}),
        evidence=LoadEvidence(result=result),
        checks=[] if tare else [CheckOutcome(id="ready", says="it still answers", passed=True)],
        proofs=[]
        if tare
        else [ProofOutcome(says="rows equal successes", query="select count(*)", expected=1, found=1, passed=True)],
        dependencies=[] if tare else (dependencies if dependencies is not None else [sqlite()]),
    )


def sqlite() -> DependencyState:
    """A fresh SQLite file."""
    return DependencyState(
        name="database",
        kind="sqlite",
        settings={"journal_mode": "WAL"},
        asked={"journal_mode": "wal"},
        before={"file_bytes": 8192},
        after={"file_bytes": 16384},
    )


def sound_run(
    *,
    contenders: dict[str, float] | None = None,
    rounds: int = 5,
    seconds: float = 10.0,
    noise: float = 0.01,
    offered: float | None = None,
    seed: int = 7,
    connections: int = 64,
    tare_rate: float = TARE_RATE,
) -> Run:
    """A whole run without fault: build, boot, verify, and rounds with tares between them."""
    contenders = CONTENDERS if contenders is None else contenders
    rng = random.Random(seed)
    names = list(contenders)
    now = START
    samples: list[Sample] = []
    for name in names:
        for made in (build_sample(name, now), boot_sample(name, now, rng), verify_sample(name, now)):
            made.started_at = now
            samples.append(made)
            now += timedelta(seconds=made.took_s + 1)
    orders = [rng.sample(names, len(names)) for _ in range(rounds)]

    def add(contender: str, round_: int, rate: float, position: int) -> None:
        nonlocal now
        noisy = rate * rng.lognormvariate(0, noise)
        result = load_result(
            noisy if offered is None else offered,
            seconds=seconds,
            rng=rng,
            offered=offered,
            connections=connections,
            # A server without fault is what limits a closed loop: its one CPU is full.
            server_busy=None if offered is not None else 0.99,
        )
        sample = load_sample(contender, round_, result, at=now, position=position)
        samples.append(sample)
        now += timedelta(seconds=sample.took_s + 1)

    for round_, order in enumerate(orders, start=1):
        add(TARE, round_, tare_rate, 0)
        for position, name in enumerate(order):
            add(name, round_, contenders[name], position)
    add(TARE, rounds + 1, tare_rate, 0)
    plan = Plan(
        run_id="20260301-120000",
        scenario="users",
        scenario_version=1,
        scenario_title="Users",
        profile="normal",
        phases=["build", "boot", "verify", "load"],
        loads=["lookup"],
        load_specs={"lookup": samples[-1].spec},
        rounds=rounds,
        seed=seed,
        orders=orders,
        contenders=[
            ContenderPlan(
                name=n,
                stack=n.split("/", maxsplit=1)[0],
                variant=n.split("/")[1],
                title=n,
                language="?",
                tools={"compiler": "1.2.3"},
            )
            for n in names
        ],
        baseline=names[0].split("/", maxsplit=1)[0],
    )
    environment = Environment(
        cpu_model="some CPU",
        cpus=2,
        memory=24 << 30,
        kernel="6.1.0",
        governor="performance",
        frequency_mhz=[3000.0, 3000.0],
        clocksource="tsc",
        file_limit=20_000,
        engine_version="0.1.0",
        load_average=[0.1, 0.1, 0.1],
    )
    return Run(plan=plan, environment=environment, samples=samples, started_at=START, ended_at=now)


def loads(run: Run, contender: str | None = None) -> list[Sample]:
    """The load samples of a contender, or of all but the tare."""
    return [
        s for s in run.samples if s.phase == "load" and (s.contender == contender if contender else s.contender != TARE)
    ]


def first_load(run: Run) -> Sample:
    """The first contender's first load."""
    return loads(run, run.plan.contenders[0].name)[0]


def result_of(sample: Sample) -> LoadResult:
    """The engine's result of a sample that has one."""
    assert sample.result is not None
    return sample.result


def watch_of(sample: Sample) -> Watch:
    """The watch of a sample that has one."""
    watch = result_of(sample).watch
    assert watch is not None
    return watch


def tares(run: Run) -> list[Sample]:
    """The tares in order."""
    return [s for s in run.samples if s.contender == TARE]


def fired(run: Run, code: str) -> list[Finding]:
    """The findings with a code."""
    return [f for f in judge(run).findings if f.code == code]


def codes(run: Run) -> set[str]:
    """The codes of all findings."""
    return {f.code for f in judge(run).findings}
