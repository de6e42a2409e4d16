"""Rule of the claims' judge: a runtime that compiles while it runs decides a statement about load only when warm.

Barrett et al. (2017): a virtual machine's first seconds say nothing about where it ends, and many reach no steady
state at all. A statement about somebody else's work is not decided by them.
"""

from __future__ import annotations

from pathlib import PurePath

from touchstone.judge.judgement import Judgement
from touchstone.record.sample import Sample

NOT_DECIDED = "not decided: measured while warming up"
COMPILES_AT_RUN_TIME = frozenset({"java", "node", "bun", "deno", "dotnet"})
"""Commands whose programs get faster while they run."""
FLAT_FOR_S = 30.0
"""A window in which nothing changed for so long: on one CPU a JVM under load was still rising after 13 s and had
reached its level after 35 s."""
UNMOVED = frozenset(
    {
        "error_share",
        "in_flight_share",
        "dependency_ceiling",
        "sessions_per_request",
        "downstream_connections_per_request",
        "warm_up_rate",
    }
)
"""Counted per request, about somebody else, or about the warm-up itself: the same for a cold contender."""


def coldness(sample: Sample, figure: str, judgement: Judgement) -> str | None:
    """Why a figure of this sample was measured while its contender warmed up. None if it was warm, or needs not be."""
    if sample.phase != "load" or figure in UNMOVED or not _compiles_at_run_time(sample):
        return None
    warm_up = sample.slices.warm_up if sample.slices else None
    if warm_up is not None:
        if warm_up.ended == "flat":
            return None
        return f"{sample.contender} still got faster after a warm-up of {warm_up.seconds:.0f} s"
    window = sample.result.window if sample.result else None
    measured = window.measured_s if window else 0.0
    shape = next((s.shape for s in judgement.steady if s.sample == sample.id), "too short")
    if shape == "flat" and measured >= FLAT_FOR_S:
        return None
    before = f"{window.warmup_s:.0f} s after its first request" if window else "soon after its start"
    return f"the window of {sample.contender} began {before} and was not seen flat for {FLAT_FOR_S:.0f} s"


def _compiles_at_run_time(sample: Sample) -> bool:
    """By the command that ran, else by the variant's name. A native executable of the same program is warm at once."""
    if any(PurePath(word).name in COMPILES_AT_RUN_TIME for word in sample.process.argv):
        return True
    _, _, variant = sample.contender.partition("/")
    return "jvm" in variant.split("-")
