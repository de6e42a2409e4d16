"""The tail phase: each contender under the load as the scenario states it, with the stamps of its slowest requests."""

from __future__ import annotations

import socket
from contextlib import ExitStack, suppress
from typing import ClassVar

from touchstone.bench.base import Bench, sampling
from touchstone.bench.service import StartedService, running
from touchstone.engine.job import Timing
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.phase.base import Phase
from touchstone.phase.load.reach import out_of_reach, unmeasured
from touchstone.phase.tail.runtime_log import read_pauses, with_log
from touchstone.record.engine import LoadResult
from touchstone.record.evidence.profile import ProfilePass
from touchstone.record.evidence.tail import DependencyWait, TailEvidence
from touchstone.record.sample import Sample
from touchstone.traffic.sequence import LoadSequence
from touchstone.vocabulary.phase import PHASES, PhaseKind

_SETTLE_S = 0.5
"""The warm-up of a window on a process that is warm."""
_SLOWEST = 3000
_SAMPLED = 1000


class TailPhase(Phase):
    """Loads each contender by itself: a window whose slowest requests are explained, between two halves without."""

    kind: ClassVar[PhaseKind] = PHASES["tail"]

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample for each load."""
        found = []
        for name, load in bench.calm_loads.items():
            if why := out_of_reach(contender, load):
                found.append(unmeasured(bench, contender, name, round_number, why, phase="tail", position=position))
                continue
            with sampling(
                bench, "tail", contender.name, load=name, round_number=round_number, position=position
            ) as sample:
                bench.watcher.step(f"looking at slow requests of {contender.name}: {name}")
                _measure_one(bench, contender, load, sample)
            found.append(sample)
        return found


def _measure_one(bench: Bench, contender: Contender, load: Load, sample: Sample) -> None:
    language = contender.stack.language.lower()
    log = bench.log(sample.process).with_suffix(".pauses.log")
    built = with_log(bench.builds[contender.name], language, log)
    timing = bench.profile.timing(load, sample.round or 1)
    with running(bench, built, sample.process, under=load, shares_places=True) as started:
        sequence = LoadSequence(bench, started, load, sample).prepare()
        half = Timing(_SETTLE_S, timing.measured_s / 2, 0.0)
        with sequence.watched():
            first = bench.put_load(sequence.job(Timing(timing.warmup_s, half.measured_s, 0.0)))
            job = sequence.job(Timing(_SETTLE_S, timing.measured_s, 0.0))
            names, addresses = _addresses(started)
            job["tail"] = {
                "slowest": _SLOWEST, "sampled": _SAMPLED, "interval_s": 0.001, "addresses": addresses,
            }  # fmt: skip
            with ExitStack() as stack:
                asked = {name: stack.enter_context(one.asked_for_waits()) for name, one in started.dependencies.items()}
                result = bench.put_load(job)
            last = bench.put_load(sequence.job(half))
        assert result.tail is not None  # it was asked for
        origin_s = result.tail.timeline.origin_s
        pauses, no_pauses = read_pauses(started.process, language, log, origin_s)
        sample.evidence = TailEvidence(
            tail=result.tail,
            pauses=pauses,
            no_pauses=no_pauses,
            dependencies=[name for name, one in started.dependencies.items() for _ in one.pids()],
            waits=[
                DependencyWait(at=round((one.at_s - origin_s) * 1e6), dependency=name, port=one.port, state=one.state)
                for name, found in asked.items()
                for one in found
            ],
            addresses=names,
            cpus=max(1, len(started.cpus)),
            with_stamps=_pass(result),
            plain=_both(_pass(first), _pass(last)),
        )
        sequence.settle(None)


def _addresses(started: StartedService) -> tuple[list[str], list[str]]:
    """Names and addresses of the dependencies that listen somewhere, as IP and port."""
    names, addresses = [], []
    for name, dependency in started.dependencies.items():
        parts = dependency.address()
        if not parts.get("host") or not parts.get("port"):
            continue
        with suppress(OSError):
            for *_, (host, *_rest) in socket.getaddrinfo(parts["host"], None, type=socket.SOCK_STREAM):
                names.append(name)
                addresses.append(f"[{host}]:{parts['port']}" if ":" in str(host) else f"{host}:{parts['port']}")
    return names, addresses


def _pass(result: LoadResult) -> ProfilePass:
    window = result.watch.window if result.watch else None
    return ProfilePass(
        seconds=result.window.measured_s,
        requests=result.counts.completed,
        failed=result.counts.not_right,
        cpu_s=window.cpu_s if window else None,
    )


def _both(first: ProfilePass, last: ProfilePass) -> ProfilePass:
    known = first.cpu_s is not None and last.cpu_s is not None
    return ProfilePass(
        seconds=first.seconds + last.seconds,
        requests=first.requests + last.requests,
        failed=first.failed + last.failed,
        cpu_s=(first.cpu_s or 0.0) + (last.cpu_s or 0.0) if known else None,
    )
