"""A service that somebody else started: where it listens, and by what its memory and CPU can be read."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from touchstone.failure import UsageError
from touchstone.manifest.base import NAME


@dataclass(frozen=True)
class Outside:
    """A service that runs already. Raises UsageError for a name or a URL that cannot be one.

    It is asked as the scenario says, and never started, stopped, limited or given settings.
    """

    name: str
    url: str
    """`http://HOST:PORT`; the paths are the scenario's."""
    pid: int | None = None
    """The root of its process tree."""
    cgroup: Path | None = None
    """The folder of its control group, or its path below the hierarchy's root."""
    allowed: bool = False
    """Whether it may be loaded although it is not on this machine."""

    def __post_init__(self) -> None:
        if not re.fullmatch(NAME, self.name) or self.name == "tare":
            raise UsageError(
                f"{self.name!r} cannot be the name of a contender",
                fix="use lower case, digits and single dashes; `tare` is the null server",
            )
        parts = self._parts()
        if parts.scheme == "https":
            raise UsageError(
                f"{self.url}: the contract check and the probe speak HTTP without TLS",
                fix="give the address behind the TLS terminator; `touchstone load` takes https",
            )
        if parts.scheme != "http" or not parts.hostname or parts.username is not None:
            raise UsageError(f"{self.url!r} is no address of a service", fix="write it like http://127.0.0.1:8080")
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise UsageError(
                f"{self.url} has a path, and the paths are the scenario's", fix=f"write {self._origin(parts)}"
            )

    @property
    def host(self) -> str:
        """The host's name or address, without brackets."""
        return self._parts().hostname or ""

    @property
    def port(self) -> int:
        """The port; 80 if the URL names none."""
        return self._parts().port or 80

    @property
    def origin(self) -> str:
        """The URL as the engine takes it."""
        return self._origin(self._parts())

    def _parts(self) -> SplitResult:
        try:
            parts = urlsplit(self.url)
            _ = parts.port
        except ValueError as error:
            raise UsageError(f"{self.url!r}: {error}", fix="write it like http://127.0.0.1:8080") from error
        return parts

    def _origin(self, parts: SplitResult) -> str:
        return f"{parts.scheme}://{parts.netloc}"


def is_loopback(address: str) -> bool:
    """Whether an IP address is this machine's own; an IPv4 address in IPv6 clothes is the same address."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


def origin_of(url: str) -> str:
    """Scheme, host and port. Raises UsageError that quotes what was typed: of `localhost:80` the scheme is a host."""
    example = "write it like http://127.0.0.1:8080/health"
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UsageError(f"{url!r}: {error}", fix=example) from error
    if parts.scheme not in ("http", "https") or not parts.netloc:
        bare = "://" not in url and re.match(r"[\w\[]", url)
        raise UsageError(f"{url!r} is no address of a service", fix=f"write http://{url}" if bare else example)
    return f"{parts.scheme}://{parts.netloc}"
