"""What a deployment costs: the clients that a service has when it ends."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from touchstone.manifest.base import ManifestModel, Name


class Stop(ManifestModel):
    """The cost of a deployment: SIGTERM while the service has clients."""

    load: Name
    """The name of the load whose requests, preparation and proofs are used. The requests are sent in turn, at the rate
    and over the connections of this table."""
    rate: Annotated[float, Field(gt=0, le=20_000)] = 200.0
    """Requests per second while the service ends. Every contender should serve this rate with ease."""
    connections: Annotated[int, Field(ge=1, le=10_000)] = 16
    """Connections that are kept open for these requests, and the number of idle connections in the case `idle`."""
    slow_load: Name | None = None
    """A load whose requests take longer than 0.1 s: eight of them are in flight at the signal. Without one, the case
    `slow` is left out."""
    stream_load: Name | None = None
    """A load whose responses are streams that last longer than 2 s, or whose messages go over WebSockets: eight of them
    are open at the signal. Without one, the case `streams` is left out."""
    within_s: Annotated[float, Field(gt=0, le=3600)] = 10.0
    """Seconds after SIGTERM within which a service must end. A service that takes longer is killed and counts as one
    that does not end."""
    rolling: bool = False
    """Also replace the service by a second process while the load continues: behind a TCP relay of touchstone, and, if
    the listener has SO_REUSEPORT, at the same port too."""


def stop_loads(stop: Stop) -> list[tuple[str, str | None]]:
    """The keys that name loads, and the names."""
    return [("load", stop.load), ("slow_load", stop.slow_load), ("stream_load", stop.stream_load)]
