"""`touchstone ab` on two git revisions."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from touchstone.cli.places import as_typed, results_root
from touchstone.cli.terms import read_figures
from touchstone.failure import TouchstoneError, UsageError
from touchstone.history.recording import MeasuredCommit
from touchstone.history.twins import count_twin, twins_file
from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.gate import GatePolicy, PairStatus
from touchstone.judge.comparison.pair import PairJudgement, Revision
from touchstone.record.store import REVISIONS, RunStore
from touchstone.report import junit, render
from touchstone.report.pair import policy_words
from touchstone.report.pair_markdown import revisions_document
from touchstone.report.why.latency import print_any
from touchstone.revisions.ab import CPU, EXPLAINED, SAME, SHARP, RevisionQuestion, compare_revisions
from touchstone.revisions.contenders import REVISION
from touchstone.revisions.repository import Repository
from touchstone.run.measure import RunConditions
from touchstone.run.pair import MeasuredPair


@dataclass(frozen=True)
class Files:
    """Paths of the files that are written for a pull request."""

    markdown: Path | None
    junit: Path | None
    allow_undecided: bool
    policy: GatePolicy

    def check(self) -> None:
        """Raise UsageError for a file that cannot be written, before anything is built."""
        for path in filter(None, (self.markdown, self.junit)):
            if not path.parent.is_dir():
                raise UsageError(
                    f"{path} cannot be written: there is no folder {path.parent}", fix="create the folder first"
                )
            if path.is_dir():
                raise UsageError(f"{path} cannot be written: it is a folder", fix="name a file in it")

    def write(self, answer: MeasuredPair) -> None:
        """Write the requested files."""
        if self.markdown is not None:
            self.markdown.write_text(revisions_document(answer.judged, answer.view), encoding="utf-8")
        if self.junit is not None:
            blocks = policy_words(answer.judged, self.policy) is None
            text = junit.document(answer.judged, allow_undecided=self.allow_undecided, blocks=blocks)
            self.junit.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class RevisionPair:
    """A base and a head revision. `None` as head means the working tree."""

    base: str
    head: str | None
    scenario: str | None
    stack: str | None
    command: str | None
    loads: tuple[str, ...]
    why: bool
    twin: bool
    files: Files

    def figures(self, named: Iterable[str]) -> dict[str, float | None]:
        """Return the requested figures with their margins. Raises UsageError for an unknown figure."""
        read = read_figures(named or SHARP)
        if self.why and not EXPLAINED.keys() & read.keys():
            raise UsageError(
                f"--why explains {' and '.join(EXPLAINED)}, and neither is among the figures",
                fix=f"add --figure {' or --figure '.join(EXPLAINED)}",
            )
        return read

    def measured(self, terms: ComparisonTerms, conditions: RunConditions, progress: Console) -> MeasuredPair:
        """Measure both revisions in one run, and write its reports and the files.

        Notes go to `progress` immediately.
        """
        self.files.check()
        repository = Repository.around(Path.cwd())
        earlier = repository.revision(self.base)
        later = repository.revision(self.head) if self.head else repository.working_tree(results_root())
        self._fetchable(earlier, later)
        noted = [f"base is {earlier.words}", f"head is {later.words}"]
        for note in noted:
            progress.print(note, highlight=False, markup=False, soft_wrap=True)
        advice = ["both are the same commit: any difference is noise"] if earlier.commit == later.commit else []
        advice += repository.remarks((earlier, later))
        for remark in advice:
            progress.print(remark, highlight=False, markup=False, soft_wrap=True, style="yellow")
        question = RevisionQuestion(
            terms,
            self.loads,
            self.scenario,
            self.stack,
            as_typed(),
            self.command,
            self.why,
            skips_same=True,
            twin=self.twin,
        )
        noting = replace(conditions, notes=[*noted, *advice])
        answer = compare_revisions(repository, (earlier, later), question, here=Path.cwd(), conditions=noting)
        if answer.judged.twin is not None and not answer.judged.interrupted:
            self._count(
                answer, MeasuredCommit(earlier.commit, repository.committed_at(earlier), earlier.subject), terms
            )
        if words := policy_words(answer.judged, self.files.policy):
            answer.judged.notes.append(words)
        answer.judged.repeat = self._repeated(answer.judged, terms)
        RunStore(answer.folder).write(REVISIONS, answer.judged)
        render(answer.view, answer.folder)
        self.files.write(answer)
        return answer

    def _repeated(self, judged: PairJudgement, terms: ComparisonTerms) -> list[str]:
        """Return the commands that repeat the measurement; empty if a revision is not committed."""
        base, head = judged.revisions
        if base.dirty or head.dirty:
            return []
        words = ["touchstone", "ab", base.commit, head.commit]
        for name, value in (("scenario", self.scenario), ("stack", self.stack), ("command", self.command)):
            words += [f"--{name}", value] if value else []
        words += [word for load in self.loads for word in ("--load", load)]
        for figure, margin in terms.figures.items():
            words += ["--figure", figure if margin is None else f"{figure}={margin * 100:g}%"]
        words += ["--margin", f"{terms.margin * 100:g}%"]
        return [shlex.join(["git", "fetch", "origin", base.commit, head.commit]), shlex.join(words)]

    def _count(self, answer: MeasuredPair, base: MeasuredCommit, terms: ComparisonTerms) -> None:
        """Store the twin's intervals, and add the count of false alarms to the output. Never fails."""
        twin, path = answer.judged.twin, twins_file()
        assert twin is not None  # the caller has seen it
        try:
            twin.counted = count_twin(answer.run, answer.judged, base, terms, path)
        except (OSError, TouchstoneError) as error:
            answer.judged.notes.append(
                f"the twins of this machine could not be counted: {' '.join(str(error).split())}"
            )

    def print_remarks(self, console: Console, answer: MeasuredPair) -> None:
        """Print remarks about revisions: equal sources, causes of a CPU difference, the next command."""
        judged = answer.judged
        if SAME in judged.notes:
            console.print(SAME, highlight=False, soft_wrap=True)
        for one in (*judged.why, *judged.why_p99):
            print_any(console, one)
            console.print()
        unknown = judged.interrupted or judged.standing in (PairStatus.INVALID, PairStatus.UNRELIABLE)
        if self.why and not (judged.why or judged.why_p99) and not unknown:
            line = "why: no load shows that CPU per request or p99 differs, so there is nothing to explain"
            console.print(line, highlight=False)
        elif not self.why and (worse := [c.figure for c in judged.changes if c.worse and c.figure in EXPLAINED]):
            question = "where it needs more CPU" if CPU in worse else "why its p99 is higher"
            again = shlex.join([*as_typed(), "--why"])
            console.print(f"to see {question}: {again}", highlight=False, markup=False, soft_wrap=True)
        if judged.standing is PairStatus.WORSE and self.head and Repository.around(Path.cwd()).leads(*judged.revisions):
            line = f"to find the commit: touchstone bisect {self.base} {self.head}"
            console.print(line, highlight=False, markup=False)

    def _fetchable(self, *pair: Revision) -> None:
        """Raise UsageError if the builds of these revisions cannot be fetched."""
        if self.command is None:
            return
        if REVISION not in self.command:
            raise UsageError(
                f"--command {self.command!r} fetches the same files for both revisions",
                fix=f"write {REVISION} in place of the commit: --command 'cp /srv/releases/{REVISION}/server .'",
            )
        for revision in pair:
            if revision.dirty:
                raise UsageError(
                    f"{revision.words} has no commit, so there is no build of it",
                    fix="commit, build, and name the commit as the head",
                )
