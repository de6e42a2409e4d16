"""Explanations in report.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from touchstone.judge.why.explanation import CpuDifference, CpuExplanation, Unexplained
from touchstone.report.why.waterfall import waterfall
from touchstone.report.why.words import (
    between,
    count,
    counts,
    headline,
    micros,
    off_cpu,
    profilers,
    rest,
    sentence,
    signed,
)


def why_lines(found: list[CpuExplanation | Unexplained]) -> Iterator[str]:
    """A section with all of them; nothing if there are none."""
    if found:
        yield from ["## Why: CPU per request in parts", ""]
        yield from explanation_lines(found)


def explanation_lines(found: list[CpuExplanation | Unexplained]) -> Iterator[str]:
    """Each comparison: the parts, the functions and the system calls; or why it could not be explained."""
    for one in found:
        if isinstance(one, Unexplained):
            yield from [f"`{one.contender}` against `{one.baseline}`, {one.load}: not explained. {one.reason}", ""]
            continue
        yield from [f"**{one.load}.** {headline(one)} {sentence(one)}", ""]
        yield from _table("part, µs per request", one, [step.part for step in waterfall(one).steps])
        yield from [rest(one), ""]
        yield from _table("function, with what works on its behalf", one, one.functions)
        for head, rows in counts(one):
            yield f"| {head} | `{one.baseline}` | `{one.contender}` | difference |"
            yield "|---|---:|---:|---:|"
            for row in rows:
                figures = f"{count(row.baseline)} | {count(row.contender)} | {count(row.difference, '+')}"
                yield f"| {row.name} | {figures} |"
            yield ""
        yield from [f"{off_cpu(one)} Sampled by {profilers(one)}.".strip(), ""]


def _table(head: str, found: CpuExplanation, parts: Sequence[CpuDifference]) -> Iterator[str]:
    yield f"| {head} | `{found.baseline}` | `{found.contender}` | difference | interval | |"
    yield "|---|---:|---:|---:|---:|---|"
    for part in parts:
        certain = "different" if part.sure else ""
        name = part.name.replace("|", "\\|")
        figures = f"{micros(part.baseline)} | {micros(part.contender)} | {signed(part.difference)}"
        yield f"| `{name}` | {figures} | {between(part)} | {certain} |"
    yield ""
