"""What the placeholders of a check's requests stand for: one `fresh` for all of them, a new `counter` for each."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field

from touchstone.engine.ask import RequestValues


def fresh_of(seed: int) -> str:
    """The text of `{fresh}` in a load with this seed, its preparation and its proofs: eight hexadecimal digits."""
    return hashlib.sha256(str(seed).encode()).hexdigest()[:8]


@dataclass
class ValueSource:
    """Gives each request of one check its values."""

    seed: int
    fresh: str = field(default_factory=lambda: secrets.token_hex(4))
    captured: dict[str, str] = field(default_factory=dict)
    """What the responses to earlier requests have left."""
    counter: int = 1
    """The next request's `counter`."""

    def next(self, count: int = 1) -> RequestValues:
        """The values of the next request, where `count` follow each other those of the first."""
        counter, self.counter = self.counter, self.counter + count
        # What is drawn differs from check to check, as `fresh` does.
        drawn = hashlib.sha256(f"{self.seed} {self.fresh}".encode()).digest()
        return RequestValues(counter, self.fresh, int.from_bytes(drawn[:8]), dict(self.captured))
