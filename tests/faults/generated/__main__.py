"""`python -m tests.faults.generated`: draw faults and sound variations, measure them, print how many were caught."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from tests.faults.generated.grammar import COMPARED, Batch, batches
from tests.faults.generated.measure import Outcome, judge_again, keep, kept, measure
from tests.faults.generated.table import text, write_between_markers
from tests.faults.runner import prepare
from touchstone.failure import TouchstoneError


def main() -> int:
    """Exit code 1 if a fault of 1 % of responses, or of 5 % of CPU or memory, was missed, or a sound draw accused."""
    options = _options()
    console = Console(width=160)
    with tempfile.TemporaryDirectory(prefix="touchstone-generated-") as folder:
        home = Path(options.keep or folder).resolve()
        home.mkdir(parents=True, exist_ok=True)
        prepare(home, [])
        outcomes = home / "outcomes.jsonl"
        done = {outcome.batch for outcome in kept(outcomes) if outcome.profile == options.profile}
        wanted = batches(options.draws, False, options.seed) + batches(options.sound, True, options.seed)
        for batch in wanted:
            if batch.id not in done:
                _measure(batch, home, options.profile, console)
        all_ = judge_again(kept(outcomes), home) if options.again else kept(outcomes)
    tables = text(all_)
    if options.write:
        write_between_markers(options.write, tables)
    else:
        console.print(tables, markup=False, highlight=False)
    return 1 if any(_is_wrong(outcome) for outcome in all_) else 0


def _measure(batch: Batch, home: Path, profile: str, console: Console) -> None:
    try:
        outcomes = measure(batch, home, profile)
    except TouchstoneError as error:
        console.print(f"{batch.id}: not carried out: {error}", markup=False, highlight=False)
        return
    keep(outcomes, home / "outcomes.jsonl")
    wrong = [outcome for outcome in outcomes if _is_wrong(outcome)]
    console.print(f"{batch.id}: {len(outcomes)} draws, {len(wrong)} not as they should be", highlight=False)
    for outcome in wrong:
        console.print(
            f"  {outcome.group} {outcome.size:.2%} {outcome.knobs}: {outcome.found}", markup=False, highlight=False
        )


def _is_wrong(outcome: Outcome) -> bool:
    if outcome.group == "sound":
        return bool(outcome.found)
    return outcome.size >= (0.05 if outcome.group in COMPARED else 0.01) and not outcome.caught


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.generated", description=__doc__)
    parser.add_argument("--draws", type=int, default=240, help="faults; 0 for none")
    parser.add_argument("--sound", type=int, default=240, help="sound variations; 0 for none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", choices=("quick", "normal"), default="quick")
    parser.add_argument("--keep", metavar="FOLDER", help="keep records here; what is there already is not drawn again")
    parser.add_argument("--again", action="store_true", help="judge what is kept by the rules as they are now")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the page whose tables are replaced")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
