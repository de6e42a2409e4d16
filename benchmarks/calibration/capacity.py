"""How near the search for a capacity is to a known one, how long it takes, and how much it scatters.

`python -m benchmarks.calibration.capacity [--repeats N] [--trial-s S]` searches the servers of limited.c, with the
engine and the search of the phase `capacity`: one that answers 1,500 requests a second, and one whose service time
grows with its requests in progress, which by Little's law keeps 50 ms up to 2,400 a second.
"""

from __future__ import annotations

import argparse
import sys
import time

from benchmarks.calibration.limited import found, limited, seat_at

OBJECTIVE = "p99 < 50ms, errors < 0.1%"
SERVERS = {
    "tokens": (("tokens", "1500"), 1_500.0),
    "grows": (("grows", "5", "375"), 2_400.0),
}
"""The server's words, and the truth: N tokens; and (1 - base / bound) / growth."""


def main() -> int:
    """Search, and print a line for each search and the spread of each server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--trial-s", type=float, default=1.5)
    options = parser.parse_args()
    print("| server | truth | found | interval | error | trials | seconds |")
    print("|---|---:|---:|---|---:|---:|---:|")
    spreads = []
    for name, (words, truth) in SERVERS.items():
        rates = []
        for _ in range(options.repeats):
            begin = time.monotonic()
            with limited(*words) as target:
                seat = found(seat_at(target, OBJECTIVE, closed_rate=truth, trial_s=options.trial_s, trials=40))
            seconds, known = time.monotonic() - begin, seat.known
            rate = seat.capacity or 0.0
            rates.append(rate)
            print(
                f"| {name} | {truth:,.0f} | {rate:,.0f} | {known.low:,.0f} to {known.high:,.0f} "
                f"| {rate / truth - 1:+.1%} | {len(seat.trials)} | {seconds:.0f} |",
                flush=True,
            )
        spreads.append(f"{name}: {max(rates) / min(rates) - 1 if min(rates) else float('nan'):.1%}")
    print(f"\nspread, the greatest over the least: {'; '.join(spreads)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
