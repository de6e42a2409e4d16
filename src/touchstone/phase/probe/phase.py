"""The probe phase: conformance to HTTP/1.1 or HTTP/2, requirement by requirement, by the engine."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from pydantic import ValidationError

from touchstone.bench.base import Bench, sampling
from touchstone.bench.running_contender import RunningContender, running_contender
from touchstone.engine.client import EngineError
from touchstone.engine.locate import engine_path
from touchstone.failure import TouchstoneError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.scenario import Probe, Scenario
from touchstone.manifest.spoken import SpokenProtocol, TlsSettings
from touchstone.phase.base import Phase
from touchstone.phase.load.reach import not_spoken, unmeasured, without_tcp
from touchstone.record.evidence.probe import ProbeReport, RequirementCounts
from touchstone.record.sample import Sample
from touchstone.vocabulary.phase import PHASES, PhaseKind

_PATIENCE_S = 600
_NONE = RequirementCounts(
    total=0, kept=0, broken=0, dangerous=0, breaks=0, unclear=0, other=0, inconclusive=0, not_applicable=0
)


class ProbePhase(Phase):
    """Plays every conformance case against a contender. Nothing is timed, so one pass is enough."""

    kind: ClassVar[PhaseKind] = PHASES["probe"]
    outside: ClassVar[bool] = True

    def applies(self, scenario: Scenario) -> bool:
        """Only where the scenario names a resource to probe."""
        return scenario.probe is not None

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample a protocol, with the whole report as its evidence."""
        asked = bench.scenario.probe
        assert asked is not None  # `applies` has seen to it
        own = bench.scenario.spoken
        samples = []
        for spoken in [own.with_label(label) for label in asked.protocols] or [own]:
            # The scenario's own protocol needs no name: it is what every phase without loads speaks.
            name = None if spoken == own else spoken.label
            if why := without_tcp(contender) or not_spoken(contender, spoken):
                samples.append(unmeasured(bench, contender, name, round_number, why, phase="probe", position=position))
            else:
                samples.append(self._probed(bench.speaking(spoken), contender, asked, name))
        return samples

    def _probed(self, bench: Bench, contender: Contender, asked: Probe, name: str | None) -> Sample:
        spoken = bench.scenario.spoken
        with sampling(bench, "probe", contender.name, load=name) as sample:
            bench.watcher.step(f"probing {contender.name} over {spoken}")
            with running_contender(bench, contender, sample.process) as found:
                whole = bench.store.logs / f"{sample.id}.probe.json"
                owned = contender.outside is None
                sample.evidence = report = _probe(found, asked, spoken, whole, owned=owned)
            sample.files["probe"] = str(whole.relative_to(bench.store.folder))
            sample.figures = figures(report)
        return sample


def figures(report: ProbeReport) -> dict[str, float]:
    """Requirements by what became of them. A server that died keeps none: what was not played would count as kept."""
    if report.died_in is not None:
        raise TouchstoneError(
            f"the service stopped listening in the conformance case {report.died_in}",
            fix=f"read its log, and play that case alone: touchstone probe URL --only {report.died_in}",
        )
    if report.refused is not None:
        raise TouchstoneError(
            f"since the conformance case {report.refused.after} {report.refused.what}",
            fix="lift the service's rate limit or block list for touchstone, or read its log around that case",
        )
    must, should = report.kept.get("MUST", _NONE), report.kept.get("SHOULD", _NONE)
    counts = {
        "probe_dangerous": must.dangerous,
        "probe_breaks": must.breaks,
        "probe_unclear": must.unclear,
        "probe_must_broken": must.broken,
        "probe_should_broken": should.broken,
        "probe_kept": sum(level.kept for level in report.kept.values()),
    }
    return {name: float(count) for name, count in counts.items()}


def tls_flags(settings: TlsSettings) -> Iterator[str]:
    """The engine's flags for settings of TLS. Each connection of the probe has a full handshake."""
    if settings.verify is not None:
        yield "--verify" if settings.verify else "--insecure"
    named = {"cacert": settings.ca_file, "cert": settings.cert, "key": settings.key, "sni": settings.sni}
    for name, value in {**named, "tls-min": settings.min_version}.items():
        if value is not None:
            yield f"--{name}={value}"


def flags(probe: Probe, *, owned: bool) -> Iterator[str]:
    """The engine's flags for a scenario's probe.

    Only a service that touchstone started (`owned`) gets unsafe methods.
    """
    for name, value in probe.headers.items():
        yield f"--header={name}: {value}"
    if not owned:
        return
    yield "--unsafe"
    if probe.post is not None:
        yield f"--post={probe.post.target}"
        if probe.post.body is not None:
            yield f"--post-body={probe.post.body}"
        if probe.post.content_type is not None:
            yield f"--post-type={probe.post.content_type}"
        for name, value in probe.post.headers.items():
            yield f"--post-header={name}: {value}"


def _probe(at: RunningContender, probe: Probe, spoken: SpokenProtocol, whole: Path, *, owned: bool) -> ProbeReport:
    """Play the cases. The engine's whole report, with every byte sent and received, is kept as the file `whole`."""
    with tempfile.TemporaryDirectory(prefix="touchstone-probe-") as folder:
        out = Path(folder) / "probe.json"
        words = [f"--protocol={spoken.protocol}", *tls_flags(spoken.settings), *flags(probe, owned=owned)]
        words += [f"--allow-host={host}" for host in at.allowed_hosts]
        words += [] if at.address is None else [f"--address={at.address}"]
        command = [str(engine_path()), "probe", at.url.rstrip("/") + probe.target, *words, "--out", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
        # With 1 and a report the service died or began to refuse: the report says so.
        if done.returncode not in (0, 1) or not out.exists():
            raise EngineError(
                f"the probe ended with code {done.returncode}: {done.stderr.strip()[-300:]}",
                where="[probe] in scenario.toml",
                fix="run it by hand: " + " ".join(command[:-2]),
            )
        whole.write_bytes(out.read_bytes())
    try:
        return ProbeReport.model_validate_json(whole.read_bytes())
    except ValidationError as error:
        raise EngineError(
            f"the probe's report has another form: {error.errors()[0]['msg']}",
            fix="build the engine again: make setup",
        ) from error
