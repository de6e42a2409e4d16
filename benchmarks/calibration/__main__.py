"""Measures how often the judge is right and writes the tables into docs/methodology.md.

`python -m benchmarks.calibration [--trials N] [--seconds-a-round S] [--write FILE] [RUN ...]`; with the folders of
recorded runs, their residuals are drawn from as well.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.calibration.trials import (
    LOUD,
    QUIET,
    USUAL,
    Source,
    bootstrap_coverage,
    from_residuals,
    rates,
    recorded_residuals,
    until_decided,
)
from touchstone.record.store import load_run

BEGIN, END = "<!-- calibration:begin -->", "<!-- calibration:end -->"
MARGIN, CONFIDENCE = 0.05, 0.95
ROUNDS = (5, 7, 10, 15, 20, 30)
EFFECTS = (0.02, 0.05, 0.10)
BOOTSTRAPPED = (10, 20, 30)
MOST = 40


def sources(folders: list[Path]) -> dict[str, Source]:
    """The simulated machines, and the recorded one if there are runs."""
    found: dict[str, Source] = {f"{noise.name} ({noise.scatter:.0%})": noise.effects for noise in (QUIET, USUAL, LOUD)}
    residuals = [r for folder in folders for r in recorded_residuals(load_run(folder))]
    if residuals:
        found[f"recorded ({len(residuals)} values)"] = from_residuals(residuals)
    return found


def fixed_rounds(machines: dict[str, Source], trials: int, seconds: float) -> Iterator[str]:
    """Tables of what a fixed number of rounds finds."""
    yield "| noise | rounds | minutes | A/A: false difference | A/A: equivalent | A/A: undecided | coverage |"
    yield "|---|---|---|---|---|---|---|"
    for name, source in machines.items():
        for rounds in ROUNDS:
            r = rates(source, effect=0.0, rounds=rounds, trials=trials, margin=MARGIN, confidence=CONFIDENCE)
            yield (
                f"| {name} | {rounds} | {rounds * seconds / 60:.1f} | {r.found + r.wrong:.1%} | {r.equivalent:.1%} "
                f"| {r.open:.1%} | {r.covered:.1%} |"
            )
    yield ""
    yield "| noise | rounds | minutes | " + " | ".join(f"{e:.0%} found" for e in EFFECTS) + " | wrong way |"
    yield "|---|---|---|" + "---|" * (len(EFFECTS) + 1)
    for name, source in machines.items():
        for rounds in ROUNDS:
            rows = [
                rates(source, effect=e, rounds=rounds, trials=trials, margin=MARGIN, confidence=CONFIDENCE)
                for e in EFFECTS
            ]
            found = " | ".join(f"{r.found:.0%}" for r in rows)
            wrong = max(r.wrong for r in rows)
            yield f"| {name} | {rounds} | {rounds * seconds / 60:.1f} | {found} | {wrong:.1%} |"


def bootstrap(machines: dict[str, Source], trials: int) -> Iterator[str]:
    """The table that says why intervals are Student's t: how often BCa intervals hold the truth."""
    yield "| noise | " + " | ".join(f"{n} rounds" for n in BOOTSTRAPPED) + " |"
    yield "|---|" + "---|" * len(BOOTSTRAPPED)
    for name, source in machines.items():
        held = [bootstrap_coverage(source, rounds=n, trials=trials, confidence=CONFIDENCE) for n in BOOTSTRAPPED]
        yield f"| {name} | " + " | ".join(f"{h:.1%}" for h in held) + " |"


def going_on(machines: dict[str, Source], trials: int, seconds: float) -> Iterator[str]:
    """The table of runs that go on until they are decided."""
    yield "| noise | true difference | found | wrong | rounds, median | rounds, 9 of 10 | minutes, 9 of 10 |"
    yield "|---|---|---|---|---|---|---|"
    for name, source in machines.items():
        for effect in (0.0, *EFFECTS):
            u = until_decided(source, effect=effect, most=MOST, trials=trials, margin=MARGIN, confidence=CONFIDENCE)
            # Where there is no difference, each one that is found is false.
            found, wrong = ("-", u.found + u.wrong) if effect == 0 else (f"{u.found:.0%}", u.wrong)
            yield (
                f"| {name} | {effect:.0%} | {found} | {wrong:.1%} | {u.median_rounds:.0f} | {u.most_rounds:.0f} "
                f"| {u.most_rounds * seconds / 60:.1f} |"
            )
    careless = until_decided(
        machines[next(iter(machines))] if len(machines) == 1 else LOUD.effects,
        effect=0.0,
        most=MOST,
        trials=trials,
        margin=MARGIN,
        confidence=CONFIDENCE,
        share_error=False,
    )
    yield ""
    yield (
        f"For comparison: looking after every round at {CONFIDENCE:.0%}, without sharing the error, calls "
        f"{careless.found + careless.wrong:.1%} of A/A comparisons on the loud machine different."
    )


def tables(folders: list[Path], trials: int, seconds: float) -> str:
    """All tables in Markdown."""
    machines = sources(folders)
    head = (
        f"{trials} trials a line, margin {MARGIN:.0%}, confidence {CONFIDENCE:.0%}; a round of two contenders and a "
        f"tare is taken as {seconds:g} s. A share near 5% has a standard error of {100 * (0.0475 / trials) ** 0.5:.1f} "
        "points; lines of the same number of rounds are drawn from the same seed."
    )
    fixed = "\n".join(fixed_rounds(machines, trials, seconds))
    again = "\n".join(going_on(machines, trials, seconds))
    # A bootstrap costs a hundred times as much as a t, so it gets fewer trials.
    beside = "\n".join(bootstrap(machines, max(50, trials // 4)))
    return (
        f"{head}\n\n{fixed}\n\nGoing on until decided, at most {MOST} rounds:\n\n{again}\n\n"
        f"Coverage of BCa bootstrap intervals on the same noise, for comparison (a quarter of the trials):\n\n{beside}"
    )


def write_between_markers(page: Path, text: str) -> None:
    """Replace what stands between the markers. Raises ValueError if the page has none."""
    old = page.read_text(encoding="utf-8")
    if BEGIN not in old or END not in old:
        raise ValueError(f"{page} lacks the markers {BEGIN} and {END}")
    before, rest = old.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Parse, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", type=Path, help="folders of recorded runs")
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seconds-a-round", type=float, default=27.0)
    parser.add_argument("--write", type=Path, default=None, help="the page whose table is replaced")
    arguments = parser.parse_args()
    text = tables(arguments.runs, arguments.trials, arguments.seconds_a_round)
    if arguments.write:
        write_between_markers(arguments.write, text)
    else:
        sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
