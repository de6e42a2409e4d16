"""Finds responses whose second part waits for an acknowledgement of the first."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.judge.language.quantity import seconds, share
from touchstone.judge.statistics.distributions import at_most
from touchstone.record.engine import RequestResult

OFTEN = 0.05
TRIALS = 3
CHANCE = 1e-3
NEXT_STEP = (
    "Set TCP_NODELAY on the connections that the server accepts, or have it send head and body with one write. "
    "Most frameworks have a switch for it."
)


@dataclass(frozen=True)
class ResponseWait:
    """The measured wait of the responses to one request."""

    request: str
    often: float
    """The share of them that do."""
    wait_s: float
    """For how long, on average."""
    trials: int
    at_once: int
    """Number of trials (the engine acknowledged the first part at once) in which the rest came at once."""

    @property
    def sentence(self) -> str:
        """Return the finding's statement without a full stop."""
        return (
            f"{share(self.often)} of the responses to {self.request} wait for an acknowledgement. Their second part "
            f"comes {seconds(self.wait_s)} after the first part, but at once in {self.at_once} of {self.trials} trials "
            "that acknowledged the first part without delay"
        )


def waiting(request: RequestResult) -> ResponseWait | None:
    """How the responses to a request wait. None if they do not, or too seldom, or if too little was tried."""
    found = request.in_parts
    if found is None or found.trials < TRIALS:
        return None
    often = found.long / max(1, found.long, request.ok + request.errors)
    # One more that came at once: of those that were seen to wait without exception the next may not.
    usual = found.long / (found.responses + 1)
    if often < OFTEN or at_most(found.trials_long, found.trials, usual) >= CHANCE:
        return None
    return ResponseWait(request.name, often, found.seconds / found.long, found.trials, found.trials - found.trials_long)
