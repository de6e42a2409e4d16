"""Claims about the sound run: go/std 20,000 requests per second, rust/std 26,000, kotlin/jvm 15,000."""

from __future__ import annotations

from typing import Any, Literal

from tests.judge.sound import sound_run
from touchstone.judge.claims.evidence import RunWithJudgement
from touchstone.judge.claims.judge import Obstacle, judge_claims, no_obstacle
from touchstone.judge.claims.ruling import ClaimRuling
from touchstone.judge.judge import judge
from touchstone.manifest.claim import ClaimsFile
from touchstone.record.evidence.load import LoadEvidence
from touchstone.record.evidence.slices import SlicesEvidence, WarmUp
from touchstone.record.run import Run
from touchstone.record.sample import Sample

THROUGHPUT = {"figure": "throughput", "load": "lookup"}


def claims(claim: dict[str, Any]) -> ClaimsFile:
    """A file with one claim."""
    return ClaimsFile.model_validate(
        {
            "schema": 1,
            "name": "mine",
            "title": "Mine",
            "summary": "One claim",
            "scenario": "users",
            "claims": [{"id": "M1", "says": "It is so."} | claim],
        }
    )


def warm(run: Run, ended: Literal["flat", "budget"] = "flat") -> Run:
    """The same run, its contenders warmed up before each load, as a run in slices does."""
    for sample in run.samples:
        if sample.phase == "load":
            warmed = WarmUp(ended=ended, seconds=40.0, requests=600_000)
            slices = SlicesEvidence(order=[sample.contender], slice_s=0.25, warm_up=warmed)
            sample.evidence = LoadEvidence(result=sample.result, slices=slices)
    return run


def ruled(
    claim: dict[str, Any], *runs: Run, obstacle: Obstacle = no_obstacle, accept_suspect: bool = False
) -> ClaimRuling:
    """The verdict on one claim, by these runs or by a sound one."""
    judged = [RunWithJudgement(run, judge(run)) for run in runs or (warm(sound_run()),)]
    return judge_claims(claims(claim), judged, obstacle=obstacle, accept_suspect=accept_suspect).claims[0]


def verdict_on(test: dict[str, Any], *runs: Run, **more: Any) -> ClaimRuling:
    """The verdict on a test of throughput under `lookup`, unless the claim says otherwise."""
    return ruled(THROUGHPUT | {"test": test} | more, *runs)


def add_floor(run: Run, contender: str, lives_mib: int, passes_mib: int) -> Run:
    """The same run with a floor search of one contender."""
    run.samples.append(
        Sample(
            id=f"floor-{contender}",
            phase="floor",
            scenario="users",
            contender=contender,
            load="lookup",
            started_at=run.started_at,
            figures={"floor_lives": float(lives_mib << 20), "floor_passes": float(passes_mib << 20)},
        )
    )
    return run
