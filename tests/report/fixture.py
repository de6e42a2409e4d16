"""A realistic run: three sound contenders, an exhibit whose samples are invalid, one that could not be measured."""

from __future__ import annotations

import math
import random
import statistics
from datetime import UTC, datetime, timedelta

from touchstone.judge.judgement import (
    Comparison,
    Estimate,
    Finding,
    Judgement,
    Outcome,
    Severity,
    SteadyState,
    Verdict,
)
from touchstone.judge.language.sentences import comparison_sentence
from touchstone.judge.statistics.decision import Interval
from touchstone.record.boot_result import BootRun
from touchstone.record.distribution import Distribution
from touchstone.record.engine import Counts, Errors, FirstError, LoadResult, LoadStep, Point, Rate
from touchstone.record.evidence.boot import BootEvidence
from touchstone.record.evidence.build import BuildEvidence
from touchstone.record.evidence.drain import DrainEvidence, DrainPoint
from touchstone.record.evidence.floor import FloorEvidence, FloorTry
from touchstone.record.evidence.hold import HeldLevel, HoldEvidence
from touchstone.record.evidence.load import LoadEvidence
from touchstone.record.evidence.probe import ProbeReport
from touchstone.record.process import Placement, Process
from touchstone.record.run import ContenderPlan, Environment, Plan, Run
from touchstone.record.sample import TARE, CheckOutcome, DependencyState, Exchange, Sample
from touchstone.record.watch import Watch, WatchPoint

ROUNDS = 5
MIB = 1024.0**2
START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
BASELINE = "go/plain"
SOUND = ["go/plain", "rust/plain", "kotlin/jvm"]
EXHIBIT = "kotlin/jvm-leak"
TWIN = "kotlin/jvm"
ABSENT = "kotlin/native"

_SPEED = {"go/plain": 11_800.0, "rust/plain": 17_400.0, "kotlin/jvm": 9_600.0, EXHIBIT: 24_000.0, TARE: 61_000.0}
_MEMORY = {"go/plain": 22 * MIB, "rust/plain": 9 * MIB, "kotlin/jvm": 265 * MIB, EXHIBIT: 900 * MIB, TARE: 3 * MIB}
_BOOT = {"go/plain": 0.0071, "rust/plain": 0.0029, "kotlin/jvm": 0.842, EXHIBIT: 0.861}
_BUILD = {"go/plain": 21.3, "rust/plain": 48.9, "kotlin/jvm": 64.2, EXHIBIT: 63.0}
_ARTIFACT = {"go/plain": 11.6 * MIB, "rust/plain": 2.4 * MIB, "kotlin/jvm": 17.8 * MIB, EXHIBIT: 17.2 * MIB}
_LOADS = {"lookup": 1.0, "insert": 0.31}
_PERCENTILES = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9995, 0.9999, 1.0]


def make_run(*, rounds: int = ROUNDS, seconds: int = 10, hertz: int = 2) -> Run:
    """The run, its memory watched `hertz` times per second. The same at every call."""
    chance, more = random.Random(7), random.Random(11)
    samples: list[Sample] = []
    for name in [*SOUND, EXHIBIT]:
        samples.append(_build(name))
        samples += [_verify(name), _probe(name)]
    for number in range(1, rounds + 1):
        for position, name in enumerate([*SOUND, EXHIBIT]):
            samples.append(_boot(name, number, position, chance))
            samples += [_hold(name, number, more), _drain(name, number, more), _floor(name, number, more)]
            for load in _LOADS:
                samples.append(_load(name, load, number, position, seconds, hertz, chance))
            if name != EXHIBIT:
                samples.append(_curve(name, number, position, seconds, hertz, chance))
        samples.append(_load(TARE, "lookup", number, 0, seconds, hertz, chance))
    contenders = [
        _plan("go", "plain", "Go net/http", "Go", {"go": "1.24.4"}),
        _plan("kotlin", "jvm", "Kotlin http4k, JVM", "Kotlin", {"java": "25.0.1", "maven": "3.9.9"}),
        _plan("rust", "plain", "Rust axum", "Rust", {"cargo": "1.91.0"}),
        _plan("kotlin", "native", "Kotlin http4k, native", "Kotlin", {}).model_copy(
            update={"not_measured": "needs native-image >= 25; install it by `touchstone toolchain native-image`"}
        ),
        _plan("kotlin", "jvm-leak", "Kotlin http4k, SQLDelight 1.5.0", "Kotlin", {"java": "25.0.1"}).model_copy(
            update={"exhibit": "SQLDelight 1.5.0 forgets connections without closing them.", "sound_twin": "kotlin/jvm"}
        ),
    ]
    plan = Plan(
        run_id="2026-11-21-0900-users-7f3a",
        scenario="users",
        scenario_version=1,
        scenario_title="Users: lookups and inserts on SQLite",
        profile="normal",
        phases=["build", "boot", "verify", "load", "hold", "drain", "floor", "probe"],
        loads=["lookup", "insert", "curve"],
        load_specs={
            "lookup": {"title": "Look up an existing name", "loop": "closed", "connections": 64},
            "insert": {"title": "Insert fresh names", "loop": "closed", "connections": 64},
            "curve": {"title": "Rising rate", "loop": "steps", "connections": 64, "rate": 20_000},
        },
        rounds=rounds,
        seed=42,
        orders=[[*SOUND, EXHIBIT] for _ in range(rounds)],
        contenders=contenders,
        baseline="go",
        placement=Placement(
            server_cpus=[0],
            engine_cpus=[1],
            dependency_cpus=[1],
            shared=["engine and dependencies share CPU 1: the machine has two"],
        ),
        command=["touchstone", "run", "users", "--exhibits"],
    )
    environment = Environment(
        cpu_model="AMD EPYC 7B13",
        cpus=2,
        memory=25_202_073_600,
        kernel="Linux 6.1.0",
        os="Debian GNU/Linux 12",
        virtualisation="kvm",
        governor="performance",
        clocksource="tsc",
        cgroups="v1",
        file_limit=20_000,
        tools={"go": "1.24.4", "cargo": "1.91.0", "java": "25.0.1"},
        engine_version="0.1.0",
        engine_sha256="9f2b" * 16,
        touchstone_version="0.1.0",
        git_revision="27732c4",
        git_dirty=False,
        load_average=[0.12, 0.31, 0.4],
    )
    return Run(
        plan=plan,
        environment=environment,
        samples=samples,
        started_at=START,
        ended_at=START + timedelta(minutes=11, seconds=27),
    )


def make_judgement(run: Run) -> Judgement:
    """A judgement with every kind of verdict in it. Its medians are the samples' own."""
    estimates = _estimates(run)
    verdicts = {s.id: Verdict.INVALID if _invalid(s) else Verdict.VALID for s in run.samples}
    return Judgement(
        verdict=Verdict.VALID,
        sample_verdicts=verdicts,
        findings=_findings(run),
        estimates=estimates,
        comparisons=_comparisons(estimates),
        steady=[
            SteadyState(contender="kotlin/jvm", load="lookup", sample=s.id, shape="warm-up", steady_from_s=6.0)
            for s in run.samples
            if s.contender == "kotlin/jvm" and s.load == "lookup"
        ],
        margin=0.05,
        confidence=0.95,
    )


def _invalid(sample: Sample) -> bool:
    return sample.contender == EXHIBIT and sample.phase == "load"


def _plan(stack: str, variant: str, title: str, language: str, tools: dict[str, str]) -> ContenderPlan:
    name = f"{stack}/{variant}"
    return ContenderPlan(name=name, stack=stack, variant=variant, title=title, language=language, tools=tools)


def _sample(name: str, phase: str, load: str | None, number: int | None, position: int = 0) -> Sample:
    parts = [phase, load, name.replace("/", "-"), f"r{number}" if number else None]
    return Sample(
        id="-".join(part for part in parts if part),
        phase=phase,
        scenario="users",
        contender=name,
        load=load,
        round=number,
        position=position,
        started_at=START,
        process=Process(placement=Placement(server_cpus=[0], engine_cpus=[1]), argv=["./users"]),
    )


def _build(name: str) -> Sample:
    sample = _sample(name, "build", None, None)
    sample.figures = {
        "build_cold": _BUILD[name],
        "build_warm": _BUILD[name] * 0.08,
        "build_memory_peak": 700 * MIB,
        "artifact_bytes": _ARTIFACT[name],
    }
    sample.evidence = BuildEvidence(cold=True, artifacts={"users": int(_ARTIFACT[name])})
    return sample


def _verify(name: str) -> Sample:
    sample = _sample(name, "verify", None, None)
    sample.checks = [
        CheckOutcome(id="ping", says="answers /ping", passed=True),
        CheckOutcome(id="unknown-path", says="unknown path is 404", passed=True),
        CheckOutcome(id="utf8-name", says="names in UTF-8 come back byte by byte", passed=name != EXHIBIT),
    ]
    if name == EXHIBIT:
        sample.checks[-1].broken = [
            Exchange(
                request="GET /?name=%C3%A5sa",
                expected="200 Boom! We found you: åsa",
                received="500 <html>SQLITE</html>",
            )
        ]
    return sample


def _boot(name: str, number: int, position: int, chance: random.Random) -> Sample:
    sample = _sample(name, "boot", None, number, position)
    starts = [_BOOT[name] * math.exp(chance.gauss(0, 0.06)) for _ in range(8)]
    sample.evidence = BootEvidence(
        runs=[BootRun(first_response_s=s, port_open_s=s * 0.8, rss=int(_MEMORY[name] * 0.4)) for s in starts]
    )
    sample.figures = {
        "boot_first_response": statistics.median(starts),
        "boot_port_open": statistics.median(starts) * 0.8,
        "boot_rss": _MEMORY[name] * 0.4 * math.exp(chance.gauss(0, 0.01)),
    }
    sample.not_measured = {"boot_first_response_cold": "dropping the page cache is not permitted here"}
    return sample


def _distribution(middle: float, spread: float, count: int) -> Distribution:
    def at(share: float) -> float:
        tail = -math.log10(max(1 - share, 1e-5))
        return middle * (0.45 + 0.55 * (share / 0.5 if share < 0.5 else 1 + spread * tail**2.2))

    return Distribution(
        count=count,
        min=at(0),
        max=at(1.0),
        mean=middle * 1.1,
        p50=at(0.5),
        p90=at(0.9),
        p99=at(0.99),
        p99_9=at(0.999),
        curve=[(share, at(share)) for share in _PERCENTILES],
    )


def _load(name: str, load: str, number: int, position: int, seconds: int, hertz: int, chance: random.Random) -> Sample:
    sample = _sample(name, "load", load, number, position)
    rate = _SPEED[name] * _LOADS[load] * math.exp(chance.gauss(0, 0.012))
    latency = _distribution(64 / rate * 0.9, 0.35 if "kotlin" in name else 0.12, int(rate * seconds))
    result = LoadResult(
        counts=Counts(sent=int(rate * seconds), ok=int(rate * seconds)),
        rate=Rate(achieved=rate),
        latency=latency,
        series=_series(name, rate, seconds, latency),
        watch=Watch(series=_watch(name, seconds, hertz)),
    )
    if name == EXHIBIT:
        _break(result)
    sample.evidence = LoadEvidence(result=result)
    sample.figures = _load_figures(result, name, rate)
    sample.dependencies = [
        DependencyState(name="database", kind="sqlite", settings={"journal_mode": "wal", "synchronous": 1})
    ]
    return sample


def _load_figures(result: LoadResult, name: str, rate: float) -> dict[str, float]:
    found = {
        "throughput": rate,
        "latency_p50": result.latency.p50,
        "latency_p90": result.latency.p90,
        "latency_p99": result.latency.p99,
        "latency_p99_9": result.latency.p99_9,
        "cpu_per_request": 0.92 / rate,
        "rss_peak": _MEMORY[name] * 1.02,
        "rss_after_load": _MEMORY[name],
        "error_share": result.counts.error_share,
    }
    return {key: value for key, value in found.items() if value is not None}


def _break(result: LoadResult) -> None:
    wrong = int(result.counts.sent * 0.979)
    result.counts.ok -= wrong
    result.counts.errors = Errors(wrong_status=wrong)
    result.counts.wrong = wrong
    result.first_errors = [
        FirstError.model_validate(
            {
                "class": "wrong_status",
                "t": 0.21,
                "request": "lookup",
                "sent": "GET /?name=bench-17 HTTP/1.1",
                "received": "HTTP/1.1 500 Internal Server Error",
                "why": "status 500, expected 200",
            }
        )
    ]


def _series(name: str, rate: float, seconds: int, latency: Distribution) -> list[Point]:
    points = []
    for t in range(1, seconds + 3):
        warm = 1 - 0.72 * math.exp(-t / 2.4) if "kotlin" in name else 1 - 0.08 * math.exp(-t)
        now = rate * warm * (1 + 0.015 * math.sin(3.1 * t))
        phase = "warmup" if t <= 2 else "load"
        points.append(Point(t=float(t), phase=phase, sent=int(now), ok=int(now), p50=latency.p50, p99=latency.p99))
    return points


def _watch(name: str, seconds: int, hertz: int) -> list[WatchPoint]:
    points = []
    for tick in range((seconds + 2 + 5) * hertz):
        t = (tick + 1) / hertz
        phase = "warmup" if t <= 2 else "load" if t <= seconds + 2 else "idle"
        grown = min(1.0, 0.4 + 0.6 * (1 - math.exp(-t / 1.5)))
        teeth = 0.06 * ((t * 1.7) % 1.0) if phase != "idle" else 0.0
        kept = 1.0 if phase != "idle" else 0.9 if "kotlin" in name else 0.7
        rss = int(_MEMORY[name] * (grown + teeth) * kept)
        points.append(WatchPoint(t=t, phase=phase, rss=rss, anon=int(rss * 0.8), cpu_s=t * 0.9))
    return points


def _curve(name: str, number: int, position: int, seconds: int, hertz: int, chance: random.Random) -> Sample:
    sample = _sample(name, "load", "curve", number, position)
    top = _SPEED[name] * math.exp(chance.gauss(0, 0.01))
    steps = []
    for step in range(1, 11):
        rate = 2_000.0 * step
        busy = min(rate / top, 1.4)
        p50 = 0.0004 / max(0.02, 1 - min(busy, 0.98)) * (1 if busy < 1 else 60 * busy)
        steps.append(
            LoadStep(
                rate=rate,
                seconds=float(seconds),
                achieved=min(rate, top),
                sent=int(rate * seconds),
                ok=int(min(rate, top) * seconds),
                latency=_distribution(p50, 0.3, int(rate * seconds)),
            )
        )
    watch = Watch(series=_watch(name, seconds, hertz))
    sample.evidence = LoadEvidence(result=LoadResult(steps=steps, latency=steps[-1].latency, watch=watch))
    sample.figures = {"throughput": top}
    return sample


def _hold(name: str, number: int, chance: random.Random) -> Sample:
    sample = _sample(name, "hold", "idle", number)
    each = _MEMORY[name] / 2_000 * math.exp(chance.gauss(0, 0.01))
    levels = [0, 1_000, 2_000, 4_000, 8_000, 16_000]
    sample.evidence = HoldEvidence(levels=[HeldLevel(connections=n, rss=int(_MEMORY[name] + n * each)) for n in levels])
    sample.figures = {"hold_rss_per_connection": each, "hold_rss_base": _MEMORY[name]}
    return sample


def _drain(name: str, number: int, chance: random.Random) -> Sample:
    sample = _sample(name, "drain", None, number)
    first, rate = _BOOT[name] + 0.2, _SPEED[name] / 40 * math.exp(chance.gauss(0, 0.02))
    progress = [DrainPoint(t=first + done / rate, done=done) for done in range(0, 1_001, 50)]
    lost = 3 if name == EXHIBIT else 0
    sample.evidence = DrainEvidence(
        produced={"0": 1_000}, consumed={"0": 1_000 - lost}, lost=lost, doubled=0, out_of_order=0, progress=progress
    )
    sample.figures = {"drain_rate": rate, "drain_first_from_exec": first}
    return sample


def _floor(name: str, number: int, chance: random.Random) -> Sample:
    sample = _sample(name, "floor", None, number)
    least = _MEMORY[name] * 0.7 * math.exp(chance.gauss(0, 0.01))
    tries = []
    for share in (0.4, 0.6, 0.8, 1.0, 1.3, 2.0):
        lives = share > 0.5
        rate = _SPEED[name] * min(1.0, share / 1.2) if lives else None
        tries.append(FloorTry(limit=int(least * share), lives=lives, passes=share >= 1, rate=rate))
    sample.evidence = FloorEvidence(share=0.9, unlimited_rates=[_SPEED[name]], tries=tries)
    sample.figures = {"floor_passes": least, "floor_lives": least * 0.6}
    return sample


def _probe(name: str) -> Sample:
    """go keeps all, rust takes requests without Host, kotlin closes without a response, others die."""
    sample = _sample(name, "probe", None, None)
    said, risk, seen = {
        "go/plain": ("right", None, "answered 400 and closed the connection"),
        "rust/plain": ("wrong", "dangerous", "answered 200 and kept the connection open"),
        "kotlin/jvm": ("wrong", "unclear", "closed the connection without a response"),
    }.get(name, ("crash", "dangerous", None))
    wrong = said in ("wrong", "crash")
    counts = {"total": 2, "kept": 2 - wrong, "broken": int(wrong), "inconclusive": 0, "not_applicable": 0}
    risks = {of: int(risk == of) for of in ("dangerous", "breaks", "unclear", "other")}
    must = {"level": "MUST", "section": "RFC 9112 3.2"}
    sample.evidence = ProbeReport.model_validate({
        "schema": "touchstone.probe/2",
        "target": "/hello",
        "post": {"target": "/notes", "refused": "POST /notes was answered 403"} if name == "kotlin/jvm" else None,
        "died_in": "host-missing" if said == "crash" else None,
        "kept": {"MUST": counts | risks},
        "requirements": [
            must | {"id": "host-missing", "says": "A request without Host is answered 400.", "played": 2,
                    "standing": "broken" if wrong else "kept", "risk": risk, "wrong": int(wrong),
                    "cases": ["host-missing", "host-missing-other-fields"]},
            must | {"id": "head", "says": "HEAD is answered without content.", "played": 1, "standing": "kept",
                    "wrong": 0, "cases": ["method-head"]},
        ],
        "cases": [
            {"id": "host-missing", "requirement": "host-missing", "verdict": said, "observed": seen,
             "why": "a request without Host is answered with 400"},
            {"id": "host-missing-other-fields", "requirement": "host-missing", "verdict": "right",
             "observed": "answered 400 and closed the connection", "why": "the same with other fields"},
            {"id": "method-head", "requirement": "head", "verdict": "right", "why": "HEAD is answered without content",
             "observed": "answered 200 and kept the connection open"},
        ],
    })  # fmt: skip
    if said != "crash":
        sample.figures = {
            "probe_dangerous": float(risk == "dangerous"),
            "probe_unclear": float(risk == "unclear"),
            "probe_must_broken": float(wrong),
            "probe_kept": 2.0 - wrong,
        }
    return sample


def _estimates(run: Run) -> list[Estimate]:
    grouped: dict[tuple[str, str | None, str, str], list[Sample]] = {}
    for sample in run.samples:
        for figure in sample.figures:
            grouped.setdefault((sample.phase, sample.load, sample.contender, figure), []).append(sample)
    estimates = []
    for (phase, load, contender, figure), samples in grouped.items():
        estimate = Estimate(phase=phase, load=load, contender=contender, figure=figure)
        if any(_invalid(s) for s in samples):
            estimate.verdict = Verdict.INVALID
            estimate.left_out = [s.id for s in samples]
            estimate.reason = "97.9 % of the requests failed"
        else:
            values = [s.figures[figure] for s in samples]
            estimate.median, estimate.values = statistics.median(values), values
            estimate.samples = [s.id for s in samples]
            if len(values) > 2:
                estimate.low, estimate.high = min(values), max(values)
        estimates.append(estimate)
    return estimates


def _comparisons(estimates: list[Estimate]) -> list[Comparison]:
    base = {(e.phase, e.load, e.figure): e for e in estimates if e.contender == BASELINE}
    comparisons = []
    for estimate in estimates:
        against = base.get((estimate.phase, estimate.load, estimate.figure))
        if against is None or estimate.contender in (BASELINE, TARE):
            continue
        comparisons.append(_comparison(estimate, against))
        twin = _twin(estimates, estimate)
        if twin is not None:
            comparisons.append(_comparison(estimate, twin))
    return comparisons


def _twin(estimates: list[Estimate], exhibit: Estimate) -> Estimate | None:
    if exhibit.contender != EXHIBIT:
        return None
    key = (exhibit.phase, exhibit.load, exhibit.figure, TWIN)
    return next((e for e in estimates if (e.phase, e.load, e.figure, e.contender) == key), None)


def _comparison(estimate: Estimate, against: Estimate) -> Comparison:
    comparison = Comparison(
        phase=estimate.phase,
        load=estimate.load,
        figure=estimate.figure,
        contender=estimate.contender,
        baseline=against.contender,
    )
    if estimate.median is None or not against.median:
        comparison.verdict = estimate.verdict
        comparison.reason = estimate.reason or "the baseline has none"
        return comparison
    ratios = sorted(a / b for a, b in zip(estimate.values, against.values, strict=True))
    comparison.ratio, comparison.rounds = statistics.median(ratios), len(ratios)
    interval = Interval(comparison.ratio, ratios[0], ratios[-1]) if len(ratios) > 2 else None
    comparison.decided_by(interval, 0.05)
    if comparison.outcome is Outcome.UNDECIDED and interval is not None:
        comparison.more_rounds = 7
    comparison.sentence = comparison_sentence(comparison, 0.05, 0.95)
    return comparison


def _findings(run: Run) -> list[Finding]:
    broken = [s for s in run.samples if _invalid(s) and s.load == "lookup"]
    findings = [
        Finding(
            code="errors-above-allowance",
            severity=Severity.INVALID,
            statement="97.9 % of the requests failed (wrong status); the load allows none.",
            next_step="Read the first wrong answer below, fix the service, and run its contract check again.",
            contender=EXHIBIT,
            load="lookup",
            sample=s.id,
            evidence={"errors": 234_960, "sent": 240_000, "first": "HTTP/1.1 500 Internal Server Error"},
        )
        for s in broken
    ]
    findings.append(
        Finding(
            code="no-steady-state",
            severity=Severity.SUSPECT,
            statement="Throughput still rose by 6.1 % in the last third of the measured window.",
            next_step="Warm up for at least 8 s (`warmup_s` of the load), or run with --thorough.",
            contender="kotlin/jvm",
            load="lookup",
            sample=f"load-lookup-kotlin-jvm-r{1}",
            figures=["throughput", "latency_p50"],
            evidence={"rise": 0.061, "steady_from_s": 6.0},
        )
    )
    findings.append(
        Finding(
            code="cpus-shared",
            severity=Severity.NOTE,
            statement="The engine and the database share CPU 1.",
            next_step="Use a machine with four CPUs or more to keep them apart.",
            evidence={"cpus": [1]},
        )
    )
    return findings
