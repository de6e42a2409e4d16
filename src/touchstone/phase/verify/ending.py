"""How a service ends while clients keep their connections, as those of a load balancer do.

One connection is at rest after a response, one has sent nothing, one has sent half of a request. One has a request in
flight, if the contract has one that takes long enough to be met by a signal.
"""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.bench.service import StartedService
from touchstone.contract.values import ValueSource
from touchstone.engine.client import EngineError
from touchstone.engine.job import request
from touchstone.manifest.contract import Send
from touchstone.manifest.exchange import Request
from touchstone.manifest.scenario import Scenario
from touchstone.record.process import EndingWithClients
from touchstone.traffic.stopping import stop_job, stop_service

_LONG_S = 0.2
"""A request that takes this long is in flight when the signal comes, `_LEAD_S` after it."""
_LEAD_S = 0.1
GIVEN_S = 10.0
"""A service has this many seconds from SIGTERM to its end."""


def end_with_clients(running: StartedService, requests: Sequence[Request], seed: int) -> EndingWithClients | None:
    """How the service ends.

    None if it does not answer `requests`, of which the first is the usual one.

    None, too, where touchstone may not end it in this way: a contract that held is not broken by that.
    """
    if not requests:
        return None
    values = ValueSource(seed)
    times = {wanted.target: running.service.exchange(wanted, values.next()).took_s for wanted in requests}
    slowest = max(requests, key=lambda wanted: times[wanted.target])
    long = times[slowest.target] >= _LONG_S
    job = stop_job(running, GIVEN_S)
    job |= {"requests": [request(requests[0])], "before_s": _LEAD_S, "lead_s": _LEAD_S}
    job |= {"idle": 1, "silent": 1, "half_sent": 1}
    if long:
        job |= {"held": 1, "held_request": request(slowest)}
    try:
        result = stop_service(running, job)
    except EngineError:
        return None
    if result.failure is not None:
        return None
    cut = [loss.evidence for loss in result.losses] if result.under_way.right < result.under_way.sent else []
    return EndingWithClients(
        took_s=GIVEN_S if result.stop_s is None else result.stop_s,
        killed=result.stop_s is None,
        in_flight=slowest.target if long and result.under_way.sent else None,
        cut=cut[0] if cut else None,
    )


def plain_requests(scenario: Scenario) -> list[Request]:
    """Requests that may be sent as they stand, and change nothing: that of `ready`, and GETs of the contract."""
    usual = [check for check in scenario.contract if all(isinstance(step, Send) for step in check.steps)]
    sent = [step for check in usual for step in check.steps if isinstance(step, Send)]
    known: list[Request] = [scenario.ready, *(step for step in sent if step.stream is None)]
    plain = [
        r
        for r in known
        if r.method == "GET" and r.body is None and "{" not in " ".join([r.target, *r.headers.values()])
    ]
    return list({request.target: request for request in plain}.values())
