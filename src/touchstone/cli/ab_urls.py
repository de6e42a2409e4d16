"""`touchstone ab` for two running services."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rich.console import Console

from touchstone.cli.places import as_typed
from touchstone.cli.services import read_services
from touchstone.cli.terms import read_figures
from touchstone.engine.ask import pasted_url
from touchstone.failure import TouchstoneError, UsageError
from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.manifest.outside import ExternalService
from touchstone.phase.load.figures import WATCHED
from touchstone.record.secret import shown_text
from touchstone.report import render
from touchstone.run.measure import RunConditions
from touchstone.run.pair import MeasuredPair
from touchstone.run.two_urls import UrlQuestion, compare_urls
from touchstone.vocabulary.figure import FIGURES

_ASKED, _OF_THE_PROCESS = ("throughput", "latency_p50"), ("cpu_per_request", "rss_peak")


@dataclass(frozen=True)
class AskedRequest:
    """The request to both services, as given on the command line."""

    method: str
    header: list[str]
    body: str | None
    """`@FILE` reads it from a file."""
    status: int | None
    connections: int

    def fields(self) -> dict[str, str]:
        """Header fields by name. Raises UsageError for one without a colon."""
        found = {}
        for word in self.header:
            name, separator, value = word.partition(":")
            if not separator or not name.strip():
                raise UsageError(
                    f"{word!r} is not a field of a request", fix="write it like -H 'Accept: application/json'"
                )
            found[name.strip()] = value.strip()
        return found

    def content(self) -> str | None:
        """The body. Raises TouchstoneError if its file cannot be read."""
        if self.body is None or not self.body.startswith("@"):
            return self.body
        file = self.body[1:]
        try:
            return Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise TouchstoneError(f"the body cannot be read: {error}", where=file, fix="name another file") from error


@dataclass(frozen=True)
class Processes:
    """Options about the services' processes and hosts."""

    pid: list[str]
    cgroup: list[str]
    allow_host: list[str]


@dataclass(frozen=True)
class UrlPair:
    """A base URL and a second URL to compare with it."""

    base: str
    head: str | None
    request: AskedRequest
    processes: Processes

    @cached_property
    def _services(self) -> tuple[tuple[ExternalService, ExternalService], str]:
        """Return the services and the common request target. Raises UsageError if the targets differ."""
        if self.head is None:
            raise UsageError(f"{self.base} has nothing to be compared with", fix="add the other service's URL")
        first, second = pasted_url(self.base), pasted_url(self.head)
        if first.target != second.target:
            raise UsageError(
                f"the URLs name two requests: {first.target} and {second.target}",
                fix="give both the same path and query; a scenario can hold more: `touchstone run --url`",
            )
        named, of = [f"base={first.origin}", f"head={second.origin}"], self.processes
        base, head = read_services(named, of.pid, of.cgroup, of.allow_host)
        return (base, head), first.target

    def figures(self, named: Iterable[str]) -> dict[str, float | None]:
        """Return the requested figures with their margins.

        Raises UsageError for a figure that such a load does not have.
        """
        watched = all(service.pid or service.cgroup for service in self._services[0])
        read = read_figures(named or (*_ASKED, *(_OF_THE_PROCESS if watched else ())))
        for figure in read:
            if FIGURES[figure].phase != "load":
                raise UsageError(
                    f"{figure!r} is not a figure of a load", fix=f"give one of: {', '.join(_ASKED)}, latency_p99"
                )
            if figure in WATCHED and not watched:
                raise UsageError(
                    f"{figure!r} is read from the services' processes, and these are not known",
                    fix="name both with --pid base=PID --pid head=PID, or with --cgroup",
                )
        return read

    def measured(self, terms: ComparisonTerms, conditions: RunConditions, _progress: Console) -> MeasuredPair:
        """Load both services alternately, and write the run's reports."""
        services, target = self._services
        notes = [shown_text(f"{service.name} is {service.origin}{target}") for service in services]
        asked = self.request
        question = UrlQuestion(
            terms,
            target,
            asked.method.upper(),
            asked.fields(),
            asked.content(),
            asked.status,
            asked.connections,
            as_typed(),
        )
        answer = compare_urls(services, question, replace(conditions, notes=notes))
        render(answer.view, answer.folder)
        return answer

    def print_remarks(self, console: Console, answer: MeasuredPair) -> None:
        """Print what is uncertain because touchstone did not start the services."""
        if answer.judged.rounds > 1:
            console.print(
                "Both services were the same processes in all rounds. "
                "Restart both and compare again before you rely on the result.",
            )
