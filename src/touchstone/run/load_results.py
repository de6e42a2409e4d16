"""Converts results of `touchstone load --json` into a run, so that two can be compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from touchstone.failure import UsageError
from touchstone.phase.load.figures import load_figures
from touchstone.record.engine import LoadResult
from touchstone.record.evidence.load import LoadEvidence
from touchstone.record.load_spec import LoadSpec, spec_of_job
from touchstone.record.run import ContenderPlan, Environment, Plan, Run
from touchstone.record.sample import Sample

LOAD_ALONE = "load"
"""In the place of a profile: nothing but loads, each put on by hand."""
_SERVICE, _LOAD = "service", "load"


def load_results_at(place: Path) -> list[Path]:
    """The result of one load, or those that a folder holds; none if it is neither."""
    if place.is_file():
        return [place]
    if place.is_dir() and not (place / "plan.json").exists():
        return sorted(place.glob("*.json"))
    return []


def run_of_load_results(files: Sequence[Path]) -> Run:
    """Each result counts as a round of one service under one load.

    Raises UsageError for a file that is not a result of a load, and for results of different loads.
    """
    try:
        return _run_of(files)
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise UsageError(
            f"no result of a load: a value is of another kind: {error}",
            where=", ".join(map(str, files)),
            fix="write one by `touchstone load URL --json > FILE`",
        ) from error


def _run_of(files: Sequence[Path]) -> Run:
    results = {file: _read(file) for file in files}
    first, *others = results
    wanted = load_in_words(results[first].job)
    for file in others:
        if (found := load_in_words(results[file].job)) != wanted:
            raise UsageError(
                f"the load was {found}, and the load of {first} was {wanted}",
                where=str(file),
                fix="put only results of one load into a folder",
            )
    ordered = sorted(results.values(), key=lambda result: result.window.start_unix_s)
    samples = [_sample(wanted, number, result) for number, result in enumerate(ordered, start=1)]
    url = str(results[first].job.get("url", ""))
    plan = Plan(
        run_id=first.stem if not others else first.parent.name,
        scenario=wanted,
        scenario_version=1,
        scenario_title=wanted,
        profile=LOAD_ALONE,
        phases=["load"],
        loads=[_LOAD],
        rounds=len(samples),
        seed=0,
        orders=[[_SERVICE]] * len(samples),
        contenders=[
            ContenderPlan(name=_SERVICE, stack=_SERVICE, variant="", title=f"the service at {url}", language="")
        ],
        baseline=_SERVICE,
    )
    return Run(
        plan=plan,
        environment=Environment(engine_sha256=ordered[0].engine.version),
        samples=samples,
        started_at=samples[0].started_at,
    )


def load_in_words(job: dict[str, Any]) -> str:
    """Describes the requests and loop; omits target, protocol and duration. Results are compared where it is equal."""
    loop = job.get("loop", {})
    rates = ", ".join(f"{value}" for name, value in loop.items() if name != "kind")
    requests = job.get("requests", [])
    sent = ", ".join(f"{request.get('method')} {request.get('target')}" for request in requests[:3])
    words = [
        f"{sent} and {len(requests) - 3} more" if len(requests) > 3 else sent,
        f"{loop.get('kind')} loop" + (f" ({rates})" if rates else ""),
        f"{job.get('connections')} connections",
    ]
    if job.get("pipeline", 1) != 1:
        words.append(f"pipeline {job['pipeline']}")
    if job.get("streams", 1) != 1:
        words.append(f"{job['streams']} streams")
    if not job.get("keepalive", True):
        words.append("a connection for each request")
    if job.get("requests_per_connection") is not None:
        words.append(f"{job['requests_per_connection']} requests per connection")
    # The words leave out bodies, fields and expectations; the digest distinguishes other requests.
    digest = hashlib.sha256(json.dumps(requests, sort_keys=True).encode()).hexdigest()[:8]
    return ", ".join(words) + f" [{digest}]"


def _read(file: Path) -> LoadResult:
    try:
        result = LoadResult.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise UsageError(
            f"no result of a load: {what}", where=str(file), fix="write one by `touchstone load URL --json > FILE`"
        ) from error
    if not result.job:
        raise UsageError("no result of a load", where=str(file), fix="write one by `touchstone load URL --out FILE`")
    return result


def _sample(scenario: str, number: int, result: LoadResult) -> Sample:
    figures, missing = load_figures(result)
    return Sample(
        id=f"load-{number}",
        phase="load",
        scenario=scenario,
        contender=_SERVICE,
        load=_LOAD,
        round=number,
        started_at=datetime.fromtimestamp(result.window.start_unix_s, UTC),
        took_s=result.window.whole_s,
        figures=figures,
        not_measured=missing,
        spec=LoadSpec.model_validate(spec_of_job(result.job)),
        evidence=LoadEvidence(result=result),
    )
