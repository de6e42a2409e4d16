"""A window with slow requests of a known cause, as the phase `tail` records it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from tests.judge.sound import sound_run
from touchstone.record.evidence.profile import ProfilePass
from touchstone.record.evidence.tail import RuntimePause, TailEvidence
from touchstone.record.run import Run
from touchstone.record.sample import Sample
from touchstone.record.tail import Place, Stamps, TailResult, Timeline

LOOK = 1000
SPACING = 20_000
FAST, SLOW = 1000, 15_000
"""µs: a request in every `SPACING`; one in fifty is slow."""
REQUESTS = 1000


def window(change: Callable[[TailEvidence, list[Stamps]], None] = lambda _evidence, _slow: None) -> TailEvidence:
    """A server at a tenth of its CPU; `change` plants a cause for the slow requests."""
    requests = [
        Stamps(due=at, sent=at, first=at + took, last=at + took, port=4000)
        for number in range(REQUESTS)
        for at, took in [(number * SPACING, SLOW if number % 50 == 49 else FAST)]
    ]
    slow = [one for one in requests if one.latency == SLOW]
    end = REQUESTS * SPACING
    evidence = TailEvidence(
        tail=TailResult(
            requests=REQUESTS,
            slowest=sorted(requests, key=lambda one: -one.latency)[:100],
            sampled=requests[::5],
            timeline=Timeline(
                looks=[[at, at // 10] for at in range(0, end, LOOK)],
                sockets=[(one.sent, one.last - 500, one.port, "read") for one in slow],
            ),
        ),
        with_stamps=ProfilePass(seconds=20, requests=REQUESTS, cpu_s=1.01),
        plain=ProfilePass(seconds=20, requests=REQUESTS, cpu_s=1.0),
    )
    change(evidence, slow)
    return evidence


def during(slow: Sequence[Stamps], share: float = 1.0) -> list[tuple[int, int]]:
    """For each slow request the last part of its time, of this share."""
    return [(round(one.last - share * one.latency), one.last) for one in slow]


def in_place(place: Place) -> Callable[[TailEvidence, list[Stamps]], None]:
    """All slow requests were seen there."""

    def change(evidence: TailEvidence, slow: list[Stamps]) -> None:
        evidence.tail.timeline.sockets = [(one.sent, one.last, one.port, place) for one in slow]

    return change


def busy(evidence: TailEvidence, slow: list[Stamps], share: float = 1.0) -> None:
    """The server used all of its CPU while slow requests were under way."""
    used = 0
    for look in evidence.tail.timeline.looks:
        inside = any(one.sent < look[0] <= one.last for one in slow)
        used += round(LOOK * (share if inside else 0.1))
        look[1] = used


def paused(evidence: TailEvidence, slow: list[Stamps]) -> None:
    """A collector stopped the program in each of them."""
    evidence.pauses = [RuntimePause(begin=b, end=e, stops=True, name="Collect") for b, e in during(slow, 0.9)]


def tail_run(by_contender: dict[str, list[TailEvidence]]) -> Run:
    """A run of the phase, a window of each contender in each round."""
    run = sound_run()
    run.plan.phases = ["tail"]
    run.samples = [
        Sample(
            id=f"{name}-{number}",
            phase="tail",
            scenario="users",
            contender=name,
            load="lookup",
            round=number,
            started_at=datetime(2026, 1, 1, tzinfo=UTC),
            evidence=evidence,
        )
        for name, windows in by_contender.items()
        for number, evidence in enumerate(windows, start=1)
    ]
    return run
