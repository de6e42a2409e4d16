"""Bursts of other work on the machine: the trials of a search that failed by them, and not by the server."""

from __future__ import annotations

from statistics import median

from touchstone.record.evidence.capacity import CapacityTrial

BEYOND_USUAL = 0.10
"""Share of the machine's CPU time above the median of the trials that held: as much as `other-processes` and
`capacity-disturbed` call suspect, a fifth of one side on two cores. Who is always there, or works for the load itself
(a database of the user's own, the kernel's writers), has as much while trials hold: such is the machine whose capacity
is asked for, and its failures count."""
PATIENCE = 3
"""Number of failures in a row that are excused. A longer disturbance is not a burst: failures count until a trial is
calm again, so that a search ends next to any other work."""


class TrialDisturbance:
    """Average CPUs used by other processes and stolen by the host, over one search's trials."""

    def __init__(self, cpus: int) -> None:
        self._bound = BEYOND_USUAL * cpus
        self._held: list[float] = []
        self._excused = 0

    def settle(self, trial: CapacityTrial) -> None:
        """Take the next trial; one that did not hold during a burst becomes void. What held in spite of one has held.

        Until a trial has held nobody knows what is usual, and none is excused.
        """
        if trial.other_cpus is None:
            return
        taken = trial.other_cpus + (trial.stolen_cpus or 0.0)
        beyond = taken - median(self._held) if self._held else 0.0
        calm = beyond <= self._bound
        if trial.held:
            self._held.append(taken)
        elif not calm and self._excused < PATIENCE:
            self._excused += 1
            why = f"others had {beyond:.1f} CPUs more than in the trials that held ({trial.why})"
            trial.held, trial.void, trial.why = None, "others", why
        if calm:
            self._excused = 0
