"""What a drawing tells a reader who points at it: whose a mark is, and the values behind it.

Matplotlib gives an artist an id and nothing else. So the text is put into the id until `carried` turns it
into attributes of the SVG element.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote
from xml.sax.saxutils import escape, quoteattr

from touchstone.report.format import scale_for
from touchstone.vocabulary.figure import Unit

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.lines import Line2D

_SIGN = "mark~"
_MARKED = re.compile(rf'<g id="{_SIGN}([^"]+)">')

Reading = Unit | Callable[[float], float]
"""How the values of an axis are read: in a unit, or, where the axis is bent, in per cent by a function."""


def mark(artists: Artist | Sequence[Artist], contender: str, says: str = "") -> None:
    """Let the artists be a contender's, and say this to who points at them."""
    for artist in artists if isinstance(artists, Sequence) else [artists]:
        artist.set_gid(_id({"contender": contender, "says": says}))


def mark_line(
    artists: Sequence[Line2D], contender: str, points: Sequence[tuple[float, float]], x: Reading, y: Reading
) -> None:
    """Attach a line to a contender, with its values for a pointer."""
    xs, x_unit = _read([px for px, _ in points], x)
    ys, y_unit = _read([py for _, py in points], y)
    data = {"contender": contender, "x": xs, "y": ys, "x-unit": x_unit, "y-unit": y_unit}
    for artist in artists:
        artist.get_path().should_simplify = False  # Each corner is a value that can be read.
        artist.set_gid(_id(data))


def with_marks(svg: str) -> str:
    """The drawing with marks as `data-` attributes, and as titles where scripts are off."""
    return _MARKED.sub(lambda found: _element(json.loads(unquote(found[1]))), svg)


def _id(data: dict[str, str]) -> str:
    return _SIGN + quote(json.dumps(data), safe="")


def _element(data: dict[str, str]) -> str:
    attributes = " ".join(f"data-{name}={quoteattr(value)}" for name, value in data.items() if value)
    title = f"<title>{escape(data['contender'])}: {escape(data['says'])}</title>" if data.get("says") else ""
    return f'<g class="mark" {attributes}>{title}'


def _read(values: Sequence[float], how: Reading) -> tuple[str, str]:
    """The values with four digits, apart by spaces, and their unit."""
    if callable(how) and not isinstance(how, Unit):
        return " ".join(f"{how(value):.6g}" for value in values), "%"
    scale = scale_for(values, how)
    return " ".join(f"{value / scale.factor:.4g}" for value in values), scale.suffix
