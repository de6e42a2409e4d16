"""Makes the page of the field guide from its records.

`python -m benchmarks.field_guide.page > docs/field-guide/README.md`.
"""

from __future__ import annotations

import sys
import tomllib
from collections import defaultdict

from benchmarks.field_guide.cells import Cell, Value
from benchmarks.field_guide.records import GUIDE, recorded_runs
from benchmarks.field_guide.tables import Column, tables
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity
from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample

_HEAD = """\
# Field guide: HTTP servers as they come

What does a server do that nobody has configured? touchstone measured {count} servers with the settings that they come
with (scenario [`field-guide`](../../scenarios/field-guide/README.md)) on a machine with two CPUs, {dates}.

The cells were guessed first, from memory ([expected.toml](expected.toml)). **≠** marks a cell that differs from the
guess, which follows in parentheses: of {guesses} guesses {missed} were wrong. The page is made from the recorded runs
in `records/` by `python -m benchmarks.field_guide.page`. The command above a table makes its cells again; put the
server's name in place of `SERVER`.
"""
_TAIL = """\
## What was left out

* **Puma and Falcon**: the machine has no Ruby.
* **The time from exec to the first response**: other programs used most of the machine. The records hold it, and the
  CPU time is in the table.
* **CPUs that a runtime counts under a quota**: with two CPUs each contender runs on one, and all count one.
  [limits.md](../limits.md) has the rules by version.
* **TLS, and HTTP/2 over TLS**: each server needs a certificate and settings of its own, and the guide is about servers
  without settings.
"""


def agrees(measured: Value, guess: Value, column: Column, *, exact: bool = False) -> bool:
    """Whether a guess was right, within what the column allows; a status or a behaviour is right or wrong."""
    if exact or isinstance(measured, bool | str) or isinstance(guess, bool | str):
        return measured == guess
    return abs(measured - guess) <= max(column.least, column.share * max(abs(measured), abs(guess)))


class Page:
    """The page, from samples by server."""

    def __init__(self) -> None:
        self.samples: dict[str, list[Sample]] = defaultdict(list)
        self.null_servers: dict[str, dict[int | None, float]] = defaultdict(dict)
        self.refused: dict[tuple[str, str], str] = {}
        """By server and phase: the finding for which the judge calls its samples invalid."""
        for run in recorded_runs():
            invalid = _invalid(run)
            tares = {s.round: s.figures for s in run.samples if s.contender == TARE and s.load == "hundred"}
            for sample in run.samples:
                if sample.contender == TARE:
                    continue
                if sample.id in invalid:
                    self.refused[sample.contender, sample.phase] = invalid[sample.id]
                    continue
                self.samples[sample.contender].append(sample)
                if sample.phase == "load":
                    rounds = {
                        number: one["cpu_per_request"] for number, one in tares.items() if "cpu_per_request" in one
                    }
                    self.null_servers[sample.contender].update(rounds)
        read = {name: tomllib.loads((GUIDE / f"{name}.toml").read_text("utf-8")) for name in ("servers", "expected")}
        self.servers, self.expected = read["servers"], read["expected"]
        self.guesses = self.missed = 0

    def text(self) -> str:
        """The page in Markdown."""
        body = [line for number in range(len(tables({}))) for line in self._table(number)]
        measured = [sample for name in self.servers for sample in self.samples[name]]
        days = sorted({sample.started_at.date().isoformat() for sample in measured})
        dates = f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"
        count = sum(1 for name in self.servers if self.samples[name])
        head = _HEAD.format(count=count, dates=dates, guesses=self.guesses, missed=self.missed)
        return "\n".join([head, *self._versions(), *body, _TAIL])

    def _versions(self) -> list[str]:
        lines = ["| server | `SERVER` | version | from |", "|---|---|---|---|"]
        lines += [f"| {of['title']} | `{name}` | {of['version']} | {of['from']} |" for name, of in self.servers.items()]
        return [*lines, ""]

    def _table(self, number: int) -> list[str]:
        table = tables({})[number]
        lines = [
            f"## {table.title}",
            "",
            table.about,
            "",
            f"    touchstone run field-guide --stacks SERVER {table.command}",
            "",
        ]
        lines += [
            f"| server | {' | '.join(column.title for column in table.columns)} |",
            "|---" * (len(table.columns) + 1) + "|",
        ]
        for name, of in self.servers.items():
            columns = tables(self.null_servers[name])[number].columns
            found = [(column, column.read(self.samples[name])) for column in columns]
            if any(cell for _, cell in found):
                lines.append(f"| {of['title']} | {' | '.join(self._marked(name, *one) for one in found)} |")
        return [*lines, ""]

    def _marked(self, name: str, column: Column, cell: Cell | None) -> str:
        if cell is None:
            code = self.refused.get((name, column.phase))
            return f"invalid: [`{code}`](../findings.md#{code})" if code else "not measured"
        guesses = {key: self.expected[name][key] for key in cell.values if key in self.expected[name]}
        wrong = [
            key
            for key, guess in guesses.items()
            if not agrees(cell.values[key], guess, column, exact=key.endswith("_status"))
        ]
        self.guesses += bool(guesses)
        self.missed += bool(wrong)
        if not wrong:
            return cell.text
        return f"**≠** {cell.text} ({', '.join(_shown(guesses[key]) for key in guesses)})"


def _invalid(run: Run) -> dict[str, str]:
    """The samples that the judge calls invalid, each with the finding's code."""
    found = judge(run).findings
    return {
        finding.sample: finding.code for finding in found if finding.sample and finding.severity is Severity.INVALID
    }


def _shown(guess: Value) -> str:
    if isinstance(guess, bool):
        return "yes" if guess else "no"
    return guess if isinstance(guess, str) else f"{guess:,}"


if __name__ == "__main__":
    sys.stdout.write(Page().text())
