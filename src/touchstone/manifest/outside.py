"""A service that somebody else started: where it listens, and by what its memory and CPU can be read."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from pathlib import Path

from touchstone.failure import UsageError
from touchstone.manifest.base import NAME


@dataclass(frozen=True)
class ExternalService:
    """A service that runs already. Raises UsageError for a name that cannot be a contender's.

    It is asked as the scenario says, and never started, stopped, limited or given settings.
    """

    name: str
    origin: str
    """`http://HOST:PORT` or `https://HOST:PORT` as it was given, or `unix:PATH`; the paths are the scenario's."""
    host: str
    """The host's name or address, without brackets."""
    port: int
    socket: str | None = None
    """The path of the Unix socket that it listens on, in place of host and port."""
    pid: int | None = None
    """The root of its process tree."""
    cgroup: Path | None = None
    """The folder of its control group, or its path below the hierarchy's root."""
    allowed: bool = False
    """Whether it may be loaded although it is not on this machine."""

    @property
    def tls(self) -> bool:
        """Whether its URL says https."""
        return self.origin.startswith("https:")

    def __post_init__(self) -> None:
        if not re.fullmatch(NAME, self.name) or self.name == "tare":
            raise UsageError(
                f"{self.name!r} cannot be the name of a contender",
                fix="use lower case, digits and single dashes; `tare` is the null server",
            )


def is_loopback(address: str) -> bool:
    """Whether an IP address is this machine's own. An IPv4 address in IPv6 clothes is the same address."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback
