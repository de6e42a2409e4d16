"""Something in a manifest that would fail later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.manifest.location import Key, line_of
from touchstone.manifest.reader import ManifestError


@dataclass(frozen=True)
class Problem:
    """Where, which key, what is wrong, and what to write."""

    file: Path
    key: tuple[str | int, ...]
    what: str
    fix: str
    of_environment: bool = False
    """Whether the file is right, and a run here would lack something."""

    @property
    def line(self) -> int | None:
        """The line of the key, or the nearest that is known."""
        try:
            return line_of(self.file.read_text(encoding="utf-8"), self.key)
        except (OSError, UnicodeDecodeError):
            return None

    def __str__(self) -> str:
        line = self.line
        place = f"{self.file}:{line}" if line else str(self.file)
        return f"{place}: {dotted(self.key)}: {self.what}\n  do: {self.fix}"


def dotted(key: Key) -> str:
    """A key as people write it: `loads.ping.requests[0].target`."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "(the whole file)"


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """By file and line, each once. What the environment lacks at the first place that wants it."""
    found = sorted(
        dict.fromkeys(problems), key=lambda problem: (str(problem.file), problem.line or 0, dotted(problem.key))
    )
    unique: dict[Problem | str, Problem] = {}
    for problem in found:
        unique.setdefault(problem.what if problem.of_environment else problem, problem)
    return list(unique.values())


def refuse(problems: Sequence[Problem], place: str, again: str) -> None:
    """Raise ManifestError with all problems in `place`, if any, and how to check `again`."""
    if problems:
        lines = "\n".join(str(problem) for problem in problems)
        raise ManifestError(
            f"{len(problems)} problem{'s' if len(problems) > 1 else ''} in {place}:\n{lines}",
            fix=f"correct them; {again}",
        )
