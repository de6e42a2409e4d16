"""Types that carry a unit, so that a figure cannot be passed where another belongs."""

from typing import NewType

Seconds = NewType("Seconds", float)
Bytes = NewType("Bytes", int)
PerSecond = NewType("PerSecond", float)
Ratio = NewType("Ratio", float)
