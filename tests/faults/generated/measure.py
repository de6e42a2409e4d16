"""Measures a batch with the real lab, and holds what was found against the truth."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tests.faults.catalogue.kinds import ECHO
from tests.faults.generated.grammar import CAUGHT_BY, COMPARED, CPU, LEAKED_MEMORY, STALL, WARM_UP, Batch, Draw
from tests.faults.plan import NAMES
from tests.faults.runner import MACHINE_NOISE, recorded
from tests.faults.setup import Server, Setup
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Judgement, Severity
from touchstone.record.store import load_run

_OF_THE_PLAN = ("too-few-rounds",)
"""A batch is measured in one round, whatever is in it."""
_NOTED = (STALL, LEAKED_MEMORY, WARM_UP)
"""A short stall is noted, since users hardly notice it; so is memory that grows over seconds, since heaps do; so are a
few failures before anything was measured."""
_TRUTHS = Path("/dev/shm/touchstone-truths")
"""Named in the servers' environment, so they share it with the machine."""


@dataclass(frozen=True)
class Outcome:
    """What became of one draw."""

    batch: str
    profile: str
    group: str
    knobs: dict[str, int]
    size: float
    """The share of responses that it touched; a stall's share of time; a resource's excess."""
    caught: bool
    found: list[str]
    """Findings that weigh, on this contender; of a sound one without those that a busy machine brings about."""
    noise: list[str]
    """The others."""
    name: str = ""
    """What the contender was called in its run."""


def measure(batch: Batch, home: Path, profile: str) -> list[Outcome]:
    """The outcome of each draw that did anything; none of a fault that touched no response.

    Raises KeyboardInterrupt if the lab was interrupted: half a measurement says nothing about a fault.
    """
    _TRUTHS.mkdir(exist_ok=True)
    for draw in batch.draws:
        _truth_file(draw).unlink(missing_ok=True)
    try:
        run = recorded(_setup(batch, profile), home)
        if run.interrupted:
            raise KeyboardInterrupt
        judgement = judge(run)
        outcomes = [_outcome(batch, profile, draw, place, judgement) for place, draw in enumerate(batch.draws)]
    finally:
        for draw in batch.draws:
            _truth_file(draw).unlink(missing_ok=True)
    return [outcome for outcome in outcomes if outcome is not None]


def judge_again(outcomes: Sequence[Outcome], home: Path) -> list[Outcome]:
    """The same draws by the rules as they are now, from the records that were kept; sizes stay as they were counted."""
    found = []
    by_run: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        by_run.setdefault((outcome.batch, outcome.profile), []).append(outcome)
    for (batch, profile), own in by_run.items():
        judgement = judge(load_run(home / "runs" / f"{batch}-{profile}" / "results"))
        found += [_judged(outcome, judgement) for outcome in own]
    return found


def keep(outcomes: Sequence[Outcome], file: Path) -> None:
    """Append them, a line of JSON each."""
    with file.open("a", encoding="utf-8") as stream:
        for outcome in outcomes:
            stream.write(json.dumps(asdict(outcome)) + "\n")


def kept(file: Path) -> list[Outcome]:
    """What was kept so far."""
    if not file.is_file():
        return []
    return [Outcome(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def _setup(batch: Batch, profile: str) -> Setup:
    calls = batch.program == "service"
    return Setup(
        f"{batch.id}-{profile}",
        "drawn",
        servers=tuple(Server(dict(draw.knobs), batch.program, {"TRUTHS": str(_TRUTHS)}) for draw in batch.draws),
        load=batch.load | ({"timeout_s": 5.0} if calls else {}),
        # What a resource is held against is the plain contender, which is the first of its batch.
        scenario=ECHO if calls else {"baseline": NAMES[0]},
        profile=profile,
        rounds=batch.rounds,
    )


def _outcome(batch: Batch, profile: str, draw: Draw, place: int, judgement: Judgement) -> Outcome | None:
    size = _size(draw)
    if draw.group != "sound" and size == 0:
        return None
    unjudged = Outcome(batch.id, profile, draw.group, draw.knobs, size, False, [], [], NAMES[place])
    return _judged(unjudged, judgement)


def _judged(outcome: Outcome, judgement: Judgement) -> Outcome:
    sound, name = outcome.group == "sound", f"{outcome.name}/plain"
    alike = outcome.batch.startswith("sound")
    own = [f for f in judgement.findings if f.contender == name or (alike and f.contender is None)]
    heavy = sorted({f.code for f in own if f.severity is not Severity.NOTE and f.code not in _OF_THE_PLAN})
    told = {f.code for f in own} if outcome.group in _NOTED else set(heavy)
    figure = COMPARED.get(outcome.group)
    worse = any(c.contender == name and c.figure == figure and c.better is False for c in judgement.comparisons)
    return replace(
        outcome,
        caught=worse or bool(told.intersection(CAUGHT_BY.get(outcome.group, ()))),
        found=[code for code in heavy if not sound or code not in MACHINE_NOISE],
        noise=[code for code in heavy if sound and code in MACHINE_NOISE],
    )


def _size(draw: Draw) -> float:
    """The share that the fault has touched, or added to the CPU time, by the server's own counts."""
    if not draw.truth:
        return draw.size
    try:
        loaded, touched, burnt, used = struct.unpack("qqqq", _truth_file(draw).read_bytes()[:32])
    except (OSError, struct.error):
        return 0.0
    if draw.group == CPU:
        return burnt / (used - burnt) if used > burnt else 0.0
    return touched / loaded if loaded else 0.0


def _truth_file(draw: Draw) -> Path:
    return _TRUTHS / str(draw.truth)
