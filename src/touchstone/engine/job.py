"""Makes the engine's jobs from what the manifests say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, cast

from touchstone.engine import protocol
from touchstone.manifest.exchange import Expectation, LoadRequest, MessageRequest, Request, WeightedRequest
from touchstone.manifest.expected_json import JsonType
from touchstone.manifest.journey import Capture, Journey, JourneyStep
from touchstone.manifest.load import Load
from touchstone.manifest.mix import Mix
from touchstone.manifest.spoken import SpokenProtocol
from touchstone.manifest.stream import EventExpectation, Stream
from touchstone.manifest.template import Place, with_variables
from touchstone.record.secret import keep_secret

_DRAWN_AHEAD = 10_000


@dataclass(frozen=True)
class Timing:
    """How long a load runs, in seconds."""

    warmup_s: float
    measured_s: float
    idle_s: float


def tls(spoken: SpokenProtocol) -> protocol.Tls:
    """How TLS is spoken, in the protocol's form. It is empty for the engine's own way, and without TLS."""
    return cast(protocol.Tls, spoken.settings.given)


def expectation(expect: Expectation) -> protocol.Expect:
    """An expectation in the protocol's form."""
    found: protocol.Expect = {"status": list(expect.statuses), "body": _body(expect), "encoding": expect.encoding}
    if expect.content_type is not None:
        found["content_type"] = expect.content_type
    if expect.grpc_status is not None:
        found["grpc_status"] = list(expect.grpc_statuses)
    if expect.headers:
        found["headers"] = list(expect.headers.items())
    return found


def _body(expect: Expectation | EventExpectation) -> protocol.ExpectBody:
    if expect.body is not None:
        return {"kind": "exact", "value": expect.body}
    if expect.pattern is not None:
        return {"kind": "pattern", "value": expect.pattern}
    if expect.json_fields is not None:
        fields = {k: {"type": v.type} if isinstance(v, JsonType) else v for k, v in expect.json_fields.items()}
        return {"kind": "json", "fields": fields, "exact": expect.json_exact}
    return {"kind": "any"}


def given_variables(text: str, place: Place) -> str:
    """The template with environment variables filled in. No record shows their values from now on."""
    return with_variables(text, place, keep_secret)


def request(wanted: Request) -> protocol.BareRequest:
    """A request in the protocol's form, with the values of environment variables in what is sent."""
    call = _call(wanted)
    socket = wanted.websocket if isinstance(wanted, MessageRequest) else None
    sent: protocol.BareRequest = {
        "method": wanted.method,
        "target": None if call else given_variables(wanted.target, "target"),
        "grpc": call,
        "headers": [(name, given_variables(value, "header")) for name, value in wanted.headers.items()],
        "body": None if wanted.body is None else given_variables(wanted.body, "body"),
        "encoding": wanted.encoding,
        "expect": expectation(wanted.expect) | ({"status": None} if call or socket else {}),
    }
    if socket is not None:
        sent["websocket"] = {"kind": socket.kind, "greetings": socket.greetings}
    return sent


def _call(wanted: Request) -> protocol.Grpc | None:
    """The gRPC method that a request calls; None if it is plain HTTP."""
    if wanted.grpc is None:
        return None
    call: protocol.Grpc = {"method": wanted.grpc, "proto": wanted.proto, "proto_path": wanted.proto_path}
    if wanted.messages is not None:
        call["messages"] = wanted.messages
    return call


def weighted(wanted: WeightedRequest) -> protocol.Request:
    """A request of a mix in the protocol's form."""
    return _named(wanted.name, wanted.weight, wanted)


def _named(name: str, weight: int, wanted: LoadRequest) -> protocol.Request:
    named = cast(protocol.Request, {"name": name, "weight": weight, **request(wanted)})
    if wanted.stream is not None:
        named["stream"] = stream_of(wanted.stream)
    return named


def stream_of(stream: Stream) -> protocol.Stream:
    """What the events of a streamed response must be, in the protocol's form."""
    return {
        "kind": stream.kind,
        "events": stream.events,
        "expect": _body(stream.expect),
        "counter": stream.counter,
        "first": stream.first,
        "stamp": stream.stamp,
        "event": stream.event,
    }


def journey(wanted: Journey) -> protocol.Journey:
    """A journey in the protocol's form."""
    return {"name": wanted.name, "weight": wanted.weight, "steps": [_step(step) for step in wanted.steps]}


def _step(step: JourneyStep) -> protocol.JourneyStep:
    return {
        "request": _named(step.name, 1, step),
        "captures": {name: capture(one) for name, one in step.captures.items()},
        "think_s": step.think_s,
    }


class SentRequests(TypedDict):
    """What a load sends: the part of a job that `touchstone load --mix` reads from a file."""

    requests: list[protocol.Request]
    journeys: list[protocol.Journey]
    rows: str | None


def sent(mix: Mix) -> SentRequests:
    """What a load sends, in the protocol's form: a mix or journeys, and the rows that they take values from."""
    return {
        "requests": [weighted(wanted) for wanted in mix.requests],
        "journeys": [journey(wanted) for wanted in mix.journeys],
        "rows": mix.rows,
    }


def capture(wanted: Capture) -> protocol.Capture:
    """A capture in the protocol's form."""
    return {"json": wanted.json_pointer, "header": wanted.header, "pattern": wanted.pattern}


def _steady(load: Load) -> protocol.Steady:
    """The loop of a load that can be cut into slices."""
    if load.loop == "closed":
        return {"kind": "closed"}
    assert load.rate is not None  # the manifest's own validation
    return {"kind": "open", "rate": load.rate, "arrivals": load.arrivals}


def _loop(load: Load, timing: Timing) -> protocol.Loop:
    """The loop of a load: closed, or open in one of its forms."""
    if load.loop in {"closed", "open"}:
        return _steady(load)
    assert load.rate is not None  # the manifest's own validation
    if load.loop == "ramp":
        return {"kind": "ramp", "from": load.rate / 10, "to": load.rate, "arrivals": load.arrivals}
    count = load.steps or 2
    rates = [load.rate * (0.1 + 0.9 * step / (count - 1)) for step in range(count)]
    return {
        "kind": "steps",
        "steps": [{"rate": rate, "seconds": timing.measured_s / count} for rate in rates],
        "arrivals": load.arrivals,
    }


def traffic(load: Load, url: str, *, seed: int, fresh: str | None) -> protocol.Traffic:
    """A contender's part of a slices job: a load without a length, CPUs and threads of its own, and without a watch.

    `fresh` is the text of `{fresh}`, which the load's preparation and proofs have, too; None if nobody else uses it.
    """
    what = sent(load)
    return {
        "url": url,
        "loop": _steady(load),
        "connections": load.connections,
        "pipeline": load.pipeline,
        "protocol": load.protocol,
        "tls": tls(load.spoken),
        "streams": load.streams,
        "keepalive": load.keepalive,
        "requests_per_connection": load.requests_per_connection,
        "repeat": load.repeat,
        "timeout_s": load.timeout_s,
        "seed": seed,
        "fresh": fresh,
        "captured": dict(load.captured),
        "requests": what["requests"],
        "journeys": what["journeys"],
        "rows": what["rows"],
    }


def load_job(
    load: Load, url: str, timing: Timing, *, cpus: Sequence[int], seed: int, fresh: str | None
) -> protocol.LoadJob:
    """A load job for the service at `url`, without a watch; `fresh` as for `traffic`."""
    return {
        **traffic(load, url, seed=seed, fresh=fresh),
        "connect_to": None,
        "give_up": False,
        "loop": _loop(load, timing),
        "threads": max(1, len(cpus)),
        "cpus": list(cpus),
        "generators": [],
        "tail": None,
        "max_requests": None,
        "warmup_s": timing.warmup_s,
        "duration_s": timing.measured_s,
        "series_interval_s": min(1.0, max(0.1, timing.measured_s / 20)),
    }


def slices_job(contenders: Mapping[str, protocol.Traffic], cpus: Sequence[int]) -> protocol.SlicesJob:
    """A slices job over named contenders, in their order, for an engine on these CPUs."""
    return {
        "cpus": list(cpus),
        "threads": max(1, len(cpus)),
        "contenders": [{"name": name, "job": job} for name, job in contenders.items()],
    }


def next_counter(first: int, sent: int) -> int:
    """The `first_counter` of the next job on the same service. The last had `first` and `sent` requests.

    Each thread draws numbers of its own, in steps of as many as there are threads, so that a fast one runs ahead; and
    some are drawn and not sent.
    """
    return first + 2 * sent + _DRAWN_AHEAD


def watch(
    pid: int,
    cgroup_paths: Sequence[str],
    allowed_cpus: Sequence[int],
    after_s: float,
    dependencies: Mapping[str, Sequence[int]] | None = None,
) -> protocol.Watch:
    """What the engine samples next to a load: the process tree below `pid`, which was given `allowed_cpus`.

    It reads the CPU time of the dependencies, given as the roots of their process trees by name.
    """
    return {
        "pid": pid,
        "cgroup_paths": list(cgroup_paths),
        "allowed_cpus": list(allowed_cpus),
        "dependencies": [{"name": name, "pid": root} for name, roots in (dependencies or {}).items() for root in roots],
        "interval_s": 0.1,
        "after_s": after_s,
    }
