"""OpenMetrics text, for a Prometheus that scrapes it or a push gateway.

Source: the OpenMetrics specification 1.0, section 3 (text format): families with their unit, labels escaped, `# EOF`.
"""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.history.entry import HistoryEntry
from touchstone.history.exports.newest import newest
from touchstone.vocabulary.figure import FIGURES, Unit

_SUFFIX = {Unit.SECONDS: "seconds", Unit.BYTES: "bytes", Unit.SHARE: "ratio"}
"""The base units that the specification names; a rate and a count have none."""


def document(entries: Sequence[HistoryEntry]) -> str:
    """A gauge a figure, and one more for its ratio to the reference. Bounds of intervals by the label `bound`."""
    by_figure: dict[str, list[HistoryEntry]] = {}
    for entry in newest(entries):
        by_figure.setdefault(entry.figure, []).append(entry)
    lines: list[str] = []
    for figure, found in by_figure.items():
        unit = _SUFFIX.get(FIGURES[figure].unit, "")
        title = FIGURES[figure].title
        lines += _family(f"touchstone_{figure}", unit, title, [(e, (e.value, e.low, e.high)) for e in found])
        ratios = [(e, (e.ratio, e.ratio_low, e.ratio_high)) for e in found if e.ratio is not None]
        if ratios:
            lines += _family(f"touchstone_{figure}_to_reference", "ratio", f"{title}, as a ratio", ratios)
    return "\n".join([*lines, "# EOF"]) + "\n"


Triple = tuple[float | None, float | None, float | None]


def _family(name: str, unit: str, title: str, found: Sequence[tuple[HistoryEntry, Triple]]) -> list[str]:
    whole = name if not unit or name.endswith(f"_{unit}") else f"{name}_{unit}"
    lines = [f"# TYPE {whole} gauge"] + ([f"# UNIT {whole} {unit}"] if unit else []) + [f"# HELP {whole} {title}"]
    for entry, values in found:
        for bound, value in zip(("value", "lower", "upper"), values, strict=True):
            if value is not None:
                lines.append(f"{whole}{{{_labels(entry, bound)}}} {value!r} {entry.committed_at.timestamp():.0f}")
    return lines


def _labels(entry: HistoryEntry, bound: str) -> str:
    labels = {
        "scenario": entry.scenario,
        "contender": entry.contender,
        "load": entry.load or "",
        "reference": entry.reference or "",
        "commit": entry.commit,
        "bound": bound,
    }
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items() if value)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
