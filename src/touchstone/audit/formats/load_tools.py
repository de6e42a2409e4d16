"""What the results of all load tools say, and do not: one run, bodies unchecked, and what a closed loop hides."""

from __future__ import annotations

ONCE = ("measured-once", "one run: without a repetition there is no interval; give several files of the same load")
UNCHECKED = ("bodies-unchecked", "the tool looks at no body: a wrong or empty one counts as a success")
HIDDEN_QUEUE = (
    "closed-loop-latency",
    "a closed loop waits for a slow response before it sends on: a stall of a second is in few requests' latency",
)
"""Latency counts from the real send time (coordinated omission, Tene)."""
