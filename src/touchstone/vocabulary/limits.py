"""Limits that several rooms or several rules apply, each declared once. A limit of one rule is in that rule's file.

The load generator applies the first five itself: `engine/load/src/limits.rs` is made from them.
"""

from __future__ import annotations

GENERATOR_FULL = 0.95
"""A thread of the generator that is busy for more of the time is the bottleneck itself: a queue's wait grows as 1/(1 -
use), so latencies are then twenty service times of the generator's own."""
THROTTLED = 0.01
"""A CPU quota that stopped a process for more of the window is seen at the 99th percentile: a period is 100 ms, so that
about one in ten was cut short."""
LATE_S = 0.001
"""Requests sent later than this were held up: a pacing slot and a timer's wake-up cost some hundred microseconds."""
ANSWERED = 0.99
"""A server that answers a smaller share of what comes gains a queue."""
DEVIATIONS = 3.0
"""Random arrivals are fewer than the rate says, by more than this many standard deviations, hardly ever by chance."""

LATE_SHARE = 1 / 3
"""Requests sent late by more than this share of the latency's 99th percentile may have made that percentile."""
SERVER_FULL = 0.90
"""A server, or dependency, whose CPUs are busy for more of the time is its own limit: it could give a tenth more."""
NEAR_CEILING = 0.90
"""From this share of the null server's rate on, engine, kernel and machine may be the limit."""
OTHERS = 0.10
"""Other processes that use a larger share of the machine's CPU time make figures suspect: on two cores that is a fifth
of one of them."""
