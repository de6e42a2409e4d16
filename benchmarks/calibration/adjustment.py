"""The value of knowing the others' CPU and the core's speed in each slice, and whether intervals still hold.

`python -m benchmarks.calibration.adjustment [--trials N]` draws rounds of laps of two equal contenders. Another process
wanders over the CPUs and takes up to a CPU from slice to slice; the rate loses a given share per CPU. Another machine
on the same core slows it in some slices, by up to a given share; the fixed piece of work shows it, a third as large and
with a scatter of its own. In the last lines the other process is on the contender's own CPU in half of the slices,
where the rate loses that CPU, and on another CPU in the rest, where it loses nothing. That use is known
to a tick, or not at all. Printed: how often the 95 % interval of the ratio holds 1, and its half width, with the ratios
as they are and at equal disturbance.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from dataclasses import dataclass
from typing import Literal

import numpy as np

from touchstone.judge.reading.laps import AS_THEY_ARE, LapRatio, adjustment, effect_of
from touchstone.judge.statistics.intervals import ratio_interval

LUCK, NOISE = 0.014, 0.06
"""Standard deviations of a round's log ratio and of a lap's, others aside."""
KEEPS, MOVES = 0.7, 0.25
"""From slice to slice the other process keeps this share of its use, and moves by this number of CPUs."""
BUSY, ANSWERS, UNSURE = 0.5, 3.0, 0.007
"""In this share of slices another machine works on the core; a service reacts this many times as much as the fixed
piece of work, whose mean over a slice scatters by this much.
"""
TICK = 0.02
"""Precision of the others' share of the own CPU: 10 ms of a slice and its gap."""


@dataclass(frozen=True)
class Setting:
    """A number of rounds and laps; the rate loses `lost` of itself per CPU that another process has, and up to
    `slowed` in a slice whose core somebody else slows. `here`: the loss follows the use of its own CPU, which is
    `known` or not; None where it does not matter on which CPU the other is.
    """

    rounds: int
    laps: int
    lost: float
    slowed: float = 0.0
    here: Literal["known", "not known"] | None = None


SETTINGS = (
    Setting(4, 4, 0.5, 0.4),
    Setting(4, 5, 0.0),
    Setting(4, 5, 0.5, 0.4),
    Setting(4, 5, 1.0, 0.4, here="known"),
    Setting(5, 8, 0.5),
    Setting(5, 24, 0.5),
    Setting(9, 10, 0.3),
    Setting(9, 10, 0.5),
    Setting(9, 10, 0.8),
    Setting(5, 8, 0.0, 0.4),
    Setting(5, 8, 0.5, 0.4),
    Setting(9, 10, 0.3, 0.4),
    Setting(5, 8, 1.0, here="not known"),
    Setting(5, 8, 1.0, here="known"),
    Setting(9, 10, 1.0, here="not known"),
    Setting(9, 10, 1.0, here="known"),
    Setting(9, 10, 1.0, 0.4, here="known"),
)


def drawn(setting: Setting, dice: np.random.Generator) -> list[list[LapRatio]]:
    """The rounds of one run."""
    rounds = []
    for _ in range(setting.rounds):
        luck, at, laps = dice.normal(0, LUCK), 0.0, []
        for _ in range(setting.laps):
            had, lost, slowed, shown, left = [], [], [], [], []
            for _ in range(2):
                at = KEEPS * at + dice.normal(0, MOVES)
                had.append(min(0.8 if setting.here else 1.0, max(0.0, 0.5 + at)))
                lost.append(setting.lost * had[-1] * (1.0 if setting.here is None else dice.random() < 0.5))
                left.append(math.log(max(0.05, 1 - lost[-1] + dice.normal(0, TICK))))
                slowed.append(-math.log1p(-setting.slowed * dice.random() * (dice.random() < BUSY)))
                shown.append(slowed[-1] / ANSWERS + dice.normal(0, UNSURE))
            rate = math.log((1 - lost[0]) / (1 - lost[1])) - slowed[0] + slowed[1]
            known = left[0] - left[1] if setting.here == "known" else None
            laps.append(LapRatio(luck + rate + dice.normal(0, NOISE), had[0] - had[1], shown[0] - shown[1], known))
        rounds.append(laps)
    return rounds


def row(setting: Setting, trials: int) -> str:
    """A line of the table."""
    dice = np.random.default_rng(20261122)
    held = {False: 0, True: 0}
    widths: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(trials):
        rounds = drawn(setting, dice)
        for equal in held:
            found = adjustment(rounds, "throughput") if equal else AS_THEY_ARE
            interval = ratio_interval([effect_of(found.applied(laps)).effect for laps in rounds], 0.95)
            assert interval is not None
            held[equal] += interval.low <= 1 <= interval.high
            widths[equal].append(math.log(interval.high / interval.low) / 2)
    cells = [f"{held[equal] / trials:.1%} | ± {statistics.median(widths[equal]):.1%}" for equal in (False, True)]
    words = [f"{setting.lost:.0%}", f"{setting.slowed:.0%}", setting.here or "-"]
    return f"| {setting.rounds} | {setting.laps} | {' | '.join([*words, *cells])} |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2000)
    options = parser.parse_args()
    heads = (
        "rounds",
        "laps",
        "lost per CPU",
        "core slower by up to",
        "on its own CPU",
        "as they are: held",
        "half width",
    )
    print(f"| {' | '.join(heads)} | at equal disturbance: held | half width |")
    print(f"|{'---:|' * (len(heads) + 2)}")
    for setting in SETTINGS:
        print(row(setting, options.trials))
    return 0


if __name__ == "__main__":
    sys.exit(main())
