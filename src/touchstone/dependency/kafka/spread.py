"""Into which partition each message goes."""

from __future__ import annotations

import random
from itertools import chain, repeat

EVEN, KEYLESS, SKEWED = "even", "keyless", "skewed"
SPREADS = (EVEN, KEYLESS, SKEWED)
_SKEW = 10
"""How many times the messages of another partition the first one gets in a skewed topic."""


def spread(how: str, messages: int, partitions: int, seed: int) -> list[int]:
    """A partition for each message.

    even: in turn. keyless: each drawn by itself, as producers of one message without a key do. skewed: the first gets
    ten times as many as each other, and they come mixed.
    """
    if how == EVEN:
        return [number % partitions for number in range(messages)]
    dice = random.Random(seed)
    if how == KEYLESS:
        return [dice.randrange(partitions) for _ in range(messages)]
    if how == SKEWED:
        share = messages // (_SKEW + partitions - 1)
        others = chain.from_iterable(repeat(partition, share) for partition in range(1, partitions))
        drawn = [*others, *repeat(0, messages - share * (partitions - 1))]
        dice.shuffle(drawn)
        return drawn
    raise ValueError(f"spread is one of {', '.join(SPREADS)}, not {how!r}")
