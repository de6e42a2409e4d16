"""Intervals, headings and the method in plain sentences."""

from __future__ import annotations

from touchstone.judge.judgement import Comparison
from touchstone.record.load_spec import LoadSpec
from touchstone.report.format import duration, percent, plural, ratio_interval, size
from touchstone.report.view import View
from touchstone.vocabulary.phase import PHASES


def against(comparison: Comparison) -> str:
    """The interval of a ratio, with and without the possible biases that widen it. Empty if there is none."""
    bounds = ratio_interval(comparison.low, comparison.high)
    if not bounds or comparison.low == comparison.high:
        return ""
    wide = comparison.sampled_low is not None and comparison.sampled_high is not None
    alone = f" with possible biases, {ratio_interval(comparison.sampled_low, comparison.sampled_high)} without"
    within = f" with {plural(comparison.laps, 'lap')}" if comparison.laps else ""
    within = f" with {plural(comparison.starts, 'start')}" if comparison.starts else within
    rounds = plural(comparison.rounds, "round")
    return f"ratio to {comparison.baseline} {bounds}{alone if wide else ''}, {rounds}{within}"


def what_ran(view: View) -> str:
    """Return scenario, preset, number of rounds and time as one line."""
    plan, run = view.plan, view.run
    repeated = any(kind.per_round for name, kind in PHASES.items() if name in plan.phases)
    parts = [
        f"{plan.scenario} v{plan.scenario_version}",
        f"preset {plan.profile}",
        *([plural(plan.rounds, "round")] if repeated else []),
        plural(len(view.measured), "contender"),
        run.started_at.strftime("%Y-%m-%d %H:%M %Z").strip(),
    ]
    if run.took_s is not None:
        parts.append(f"took {duration(run.took_s)}")
    return " · ".join(parts)


def machine(view: View) -> str:
    """The machine in a line."""
    env = view.run.environment
    parts = [env.cpu_model or "unknown CPU", plural(env.cpus, "CPU"), size(env.memory) if env.memory else ""]
    parts += [env.os, env.kernel, env.virtualisation or ""]
    return " · ".join(part for part in parts if part)


def notes(view: View) -> list[str]:
    """What the run has to say of itself: which revisions its contenders are, what was done otherwise, and why.

    That it was interrupted every report says in its own way.
    """
    return [note for note in view.run.notes if not note.startswith("interrupted")]


def load_line(view: View, load: str) -> str:
    """A load in a line, from its specification."""
    spec = view.plan.load_specs.get(load, LoadSpec())
    parts = [f"load {load}"]
    if spec.loop:
        rising = {"steps": "rate rising in steps", "ramp": "rate rising steadily"}
        parts.append(rising.get(spec.loop, f"{spec.loop} loop"))
    if spec.connections:
        each = f" of {plural(spec.streams, 'stream')}" if spec.streams > 1 else ""
        parts.append(plural(spec.connections, "connection") + each)
    if spec.protocol != "h1":
        parts.append(f"HTTP/2 ({spec.protocol})")
    elif spec.tls:
        parts.append("HTTP/1.1 over TLS")
    if not spec.keepalive:
        parts.append("a connection for each request")
    elif spec.requests_per_connection is not None:
        parts.append(f"a connection for {plural(spec.requests_per_connection, 'request')}")
    if spec.rate:
        up_to = "" if spec.loop == "open" else "up to "
        parts.append(f"{up_to}{spec.rate:,.0f} requests/s")
    return " · ".join(parts) + (f". {spec.about}" if spec.about else "")


def method(view: View) -> str:
    """How the numbers came about, in a paragraph."""
    plan, judgement = view.plan, view.judgement
    return (
        f"Every contender ran once a round, in random order (seed {plan.seed}), as a fresh process "
        f"with fresh state; {plural(plan.rounds, 'round')} were planned. A figure is the median over rounds with its "
        f"{percent(judgement.confidence)} confidence interval; invalid samples are left out of it, and shown. "
        f"A comparison is the ratio to the baseline taken within each round, so that the machine's drift cancels. "
        f"It is decided where the whole interval excludes 1 and the effect exceeds {percent(judgement.margin)}; it is "
        f"equivalent where the whole interval lies within {percent(judgement.margin)} of 1; else it is undecided. "
        f"Latency runs from the intended send time. A number that was not measured is never shown as 0."
    )


def trace(view: View) -> str:
    """The command that leads from a number to its raw data."""
    return f"touchstone explain {view.plan.run_id} SAMPLE"
