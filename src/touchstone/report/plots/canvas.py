"""Matplotlib drawings as inline SVG with CSS variables as colours, for light and dark.

A drawing uses stand-in colours (`INK`, `line_colour(1)`, ...); `to_svg` replaces each by `var(--name)`.
Matplotlib is imported when something is drawn, not when the command starts.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from markupsafe import Markup

from touchstone.report.plots.marks import with_marks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 440
"""Width of a drawing in CSS pixels: two fit next to each other on a desktop, and one still reads on a phone."""
TEXT = 12.5
"""Text size in the same pixels."""

_GLYPH = 0.56
"""The usual width of a letter, as a share of the text size."""
_NAME_ROOM = 168.0

INK = "#0a0b01"
MUTED = "#0a0b02"
GRID = "#0a0b03"
PAPER = "#0a0b04"
BAND = "#0a0b05"
BETTER = "#0a0b06"
WORSE = "#0a0b07"
EQUIVALENT = "#0a0b08"
UNDECIDED = "#0a0b09"
INVALID = "#0a0b0a"
_TARE = "#0a0b10"
_LINES = [f"#0a0c{i:02x}" for i in range(1, 9)]
PALETTE_SIZE = len(_LINES)

VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    PAPER: "panel",
    BAND: "band",
    BETTER: "better",
    WORSE: "worse",
    EQUIVALENT: "equivalent",
    UNDECIDED: "undecided",
    INVALID: "invalid",
    _TARE: "muted",
    **{colour: f"c{i}" for i, colour in enumerate(_LINES, start=1)},
}
"""The CSS variable that stands behind each stand-in colour."""

_STYLES = ["-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2))]


def line_colour(index: int) -> str:
    """The stand-in colour of the contender at this place of the palette; 0 is the tare."""
    return _TARE if index == 0 else _LINES[(index - 1) % PALETTE_SIZE]


def line_style(index: int) -> Any:
    """Another dash once the colours are used up."""
    return _STYLES[max(0, index - 1) // PALETTE_SIZE % len(_STYLES)]


def new(
    height: float, *, left: float = 58, right: float = 12, top: float = 28, bottom: float = 44
) -> tuple[Figure, Axes]:
    """An empty drawing `WIDTH` wide with one pair of axes; all lengths in pixels."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(WIDTH / 72, height / 72), dpi=72)
    figure.patch.set_alpha(0)
    box = (left / WIDTH, bottom / height, (WIDTH - left - right) / WIDTH, (height - top - bottom) / height)
    axes = figure.add_axes(box)
    axes.patch.set_alpha(0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(MUTED)
    axes.spines["bottom"].set_linewidth(0.8)
    axes.tick_params(axis="both", which="both", colors=MUTED, labelsize=TEXT, length=0, pad=6)
    axes.tick_params(axis="x", which="major", length=4, width=0.8)
    axes.grid(visible=True, axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    return figure, axes


def name_width(names: Iterable[str]) -> float:
    """Room for contenders' names next to the axes, in pixels. Names that need more are shortened by `fitted`."""
    return min(_NAME_ROOM, max((text_width(name) for name in names), default=0) + 10)


def shortened(name: str, room: float) -> str:
    """The name, or its two ends if it is too long for the room."""
    if text_width(name) <= room:
        return name
    keep = max(4, int(room / TEXT / _GLYPH) - 1)
    return f"{name[: keep // 2]}\N{HORIZONTAL ELLIPSIS}{name[-(keep - keep // 2) :]}"


def text_width(text: str) -> float:
    """About how wide a text is, in pixels."""
    return len(text) * TEXT * _GLYPH


def label(axes: Axes, x: str, y: str) -> None:
    """Name the axes: x below, y above the axis at the left, where it reads without turning the head."""
    axes.set_xlabel(x, color=MUTED, fontsize=TEXT, labelpad=6)
    if y:
        axes.set_title(y, color=MUTED, fontsize=TEXT, loc="left", pad=8)


def to_svg(figure: Figure, name: str, title: str, description: str) -> Markup:
    """The drawing as an `<svg>` element for a page. `name` must be unique on the page."""
    from matplotlib import rc_context  # noqa: PLC0415

    buffer = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "path.simplify": True}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    return Markup(_inline(buffer.getvalue(), name, title, description))


def _rounded(attribute: re.Match[str]) -> str:
    """Coordinates rounded to a hundredth of a pixel; values shown to readers unchanged."""
    return attribute[0] if attribute[1] else re.sub(r"(\d+\.\d{2})\d+", r"\1", attribute[0])


def _inline(svg: str, name: str, title: str, description: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.S)
    prefix = re.sub(r"[^a-z0-9]+", "-", name.lower())
    svg = with_marks(svg)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, f"var(--{variable})")
    svg = re.sub(r"font: ([^;\"]*?)([\d.]+px)[^;\"]*", r"font: \1\2 var(--sans)", svg)
    svg = re.sub(r"font-family: [^;\"]*", "font-family: var(--sans)", svg)
    svg = re.sub(r'(data-[xy]=)?"[^"]*"', _rounded, svg)
    svg = re.sub(r"\n\s*", "\n", svg)
    view_box = re.search(r'viewBox="[^"]+"', svg)
    head = (
        f'<svg {view_box.group() if view_box else ""} role="img" aria-labelledby="{prefix}-title {prefix}-desc" '
        f'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
        f'<title id="{prefix}-title">{escape(title)}</title><desc id="{prefix}-desc">{escape(description)}</desc>'
    )
    return head + svg[svg.index(">") + 1 :].strip()
