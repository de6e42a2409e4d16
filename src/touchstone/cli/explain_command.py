"""`touchstone explain`: where a number or a finding of a report comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from touchstone.cli.completion import runs
from touchstone.cli.places import find_run
from touchstone.failure import UsageError, did_you_mean
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Estimate, Finding, Judgement, PeakReached
from touchstone.record.run import Run
from touchstone.record.sample import Sample
from touchstone.record.store import load_run
from touchstone.report.format import quantity
from touchstone.vocabulary.figure import FIGURES


def explain(
    run: Annotated[str, typer.Argument(help="A run's id or folder, or `last`.", autocompletion=runs)],
    id: Annotated[str, typer.Argument(help="A sample's id (or its number), CONTENDER:FIGURE, or a finding's code.")],
) -> None:
    """Print where a figure comes from: samples, rounds, commands, findings, files."""
    folder = find_run(run)
    measured = load_run(folder)
    judgement = judge(measured)
    lines = _sample(measured, judgement, id) or _figure(measured, judgement, id) or _finding(judgement, id)
    if not lines:
        raise UsageError(
            f"the run has no sample, figure or finding {id!r}",
            fix=_what_there_is(measured, judgement, id),
        )
    console = Console()
    for line in lines:
        console.print(escape(line), highlight=False, soft_wrap=True)
    console.print(f"files: {folder}", highlight=False, soft_wrap=True)


def _what_there_is(run: Run, judgement: Judgement, wanted: str) -> str:
    """List the figures of a named contender, or else the valid ids and the nearest one."""
    figures: dict[str, list[str]] = {}
    for estimate in judgement.estimates:
        figures.setdefault(estimate.contender, []).append(estimate.figure)
    contender, _, figure = wanted.partition(":")
    if contender in figures:
        own = list(dict.fromkeys(figures[contender]))
        return f"{did_you_mean(figure, own)}of {contender} there are: {', '.join(own)}"
    known = [s.id for s in run.samples] + [f"{c}:{name}" for c, names in figures.items() for name in names]
    known += [finding.code for finding in judgement.findings]
    example = next((f"{c}:{names[0]}" for c, names in figures.items()), "go/plain:throughput")
    return (
        f"{did_you_mean(wanted, dict.fromkeys(known))}a sample's id as in the report, CONTENDER:FIGURE such as "
        f"{example}, or a finding's code"
    )


def _sample(run: Run, judgement: Judgement, wanted: str) -> list[str]:
    sample = next((s for s in run.samples if s.id == wanted or s.id.split("-")[0] == wanted.zfill(4)), None)
    if sample is None:
        return []
    placement = sample.process.placement
    lines = [
        f"sample {sample.id}: {sample.phase} of {sample.contender}"
        + (f", load {sample.load}" if sample.load else "")
        + (f", round {sample.round}" if sample.round else ""),
        f"verdict: {judgement.sample_verdicts.get(sample.id, 'not judged')}",
        f"measured: {sample.started_at:%Y-%m-%d %H:%M:%S} UTC, {sample.took_s:.1f} s",
        f"placement: server on CPUs {placement.server_cpus}, engine on CPUs {placement.engine_cpus}",
    ]
    if sample.process.argv:
        lines.append(f"command: {' '.join(sample.process.argv)}")
    lines += [f"environment: {name}={value}" for name, value in sorted(sample.process.env.items())]
    lines += [f"figure {name}: {_value(name, value)}" for name, value in sample.figures.items()]
    lines += [_peak(peak) for peak in judgement.peaks if peak.sample == sample.id]
    lines += [f"not measured: {name}: {reason}" for name, reason in sample.not_measured.items()]
    lines += [f"proof: {p.says}: expected {p.expected}, found {p.found} ({p.query})" for p in sample.proofs]
    lines += [f"finding {f.code}: {f.statement}" for f in judgement.findings if f.sample == sample.id]
    files = {**({"log": sample.process.log} if sample.process.log else {}), **sample.files}
    lines += [f"file {name}: {path}" for name, path in files.items()]
    return [*lines, f"record: samples/{sample.id}.json", *_failure(sample)]


def _value(figure: str, value: float | None) -> str:
    """A value in a unit that people read."""
    return quantity(value, FIGURES[figure].unit) if figure in FIGURES else _plain(value)


def _plain(value: Any) -> str:
    """Return evidence as readable text, with rounded numbers."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in value.items()) or "none"
    if isinstance(value, list | tuple | set):
        return ", ".join(map(_plain, value)) or "none"
    return str(value)


def _peak(peak: PeakReached) -> str:
    """Return the rate series of a start under load as the judge classifies it."""
    changes = ", ".join(f"{t:.1f} s" for t in peak.changepoints_s) or "none"
    reached = f"peak of {peak.rate:.6g}/s after {peak.time_s:.2f} s" if peak.rate and peak.time_s else "no peak"
    return f"start under load: {peak.shape}; {reached}; changes of level since exec: {changes}"


def _failure(sample: Sample) -> list[str]:
    if sample.failure is None:
        return []
    return [f"failure: {sample.failure.what}", *(f"  | {line}" for line in sample.failure.tail)]


def _figure(run: Run, judgement: Judgement, wanted: str) -> list[str]:
    contender, _, figure = wanted.partition(":")
    lines = []
    for estimate in judgement.estimates:
        if estimate.contender == contender and estimate.figure == figure:
            load = f", load {estimate.load}" if estimate.load else ""
            lines += [
                f"{contender} {figure}{load}: median {_value(figure, estimate.median)}, "
                f"{_interval(estimate, judgement.confidence)}, {estimate.verdict}",
                *(
                    f"  {s}: {_value(figure, value)}"
                    for s, value in zip(estimate.samples, estimate.values, strict=False)
                ),
                *(f"  {sample}: left out as invalid" for sample in estimate.left_out),
            ]
    return [*lines, f"command: {' '.join(run.plan.command)}", f"seed: {run.plan.seed}"] if lines else []


def _interval(estimate: Estimate, confidence: float) -> str:
    if estimate.low is None or estimate.high is None:
        return "no interval"
    low, high = (_value(estimate.figure, bound) for bound in (estimate.low, estimate.high))
    return f"interval {low} to {high} ({confidence:.0%})"


def _finding(judgement: Judgement, wanted: str) -> list[str]:
    found = [finding for finding in judgement.findings if finding.code == wanted]
    return [
        line
        for finding in found
        for line in (
            f"{_about(finding)}: {finding.statement}",
            *(f"  evidence: {name.replace('_', ' ')}: {_plain(value)}" for name, value in finding.evidence.items()),
            f"  do: {finding.next_step}",
            f"  sample: {finding.sample or 'the run'}",
        )
    ]


def _about(finding: Finding) -> str:
    """Return `code (severity) of contender, load`, without the parts that the finding lacks."""
    of = f" of {finding.contender}" if finding.contender else ""
    load = f", load {finding.load}" if finding.load else ""
    return f"{finding.code} ({finding.severity}){of}{load}"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explain")(explain)
