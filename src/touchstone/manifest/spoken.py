"""What is spoken with a service: HTTP/1.1 or HTTP/2, over TLS or without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pydantic import model_validator

from touchstone.manifest.base import ManifestModel

Protocol = Literal["h1", "h2c", "h2"]
Label = Literal["h1", "h1-tls", "h2c", "h2"]

_WORDS: Mapping[Label, str] = {
    "h1": "HTTP/1.1",
    "h1-tls": "HTTP/1.1 over TLS",
    "h2c": "HTTP/2 without TLS (h2c)",
    "h2": "HTTP/2 over TLS",
}


@dataclass(frozen=True)
class SpokenProtocol:
    """A protocol, over TLS or without."""

    protocol: Protocol = "h1"
    tls: bool = False

    @property
    def label(self) -> Label:
        """The short name, as `speaks` in stack.toml has it."""
        return "h1-tls" if self.protocol == "h1" and self.tls else self.protocol

    @property
    def scheme(self) -> str:
        """The scheme of its URL."""
        return "https" if self.tls else "http"

    def __str__(self) -> str:
        return _WORDS[self.label]


PLAIN = SpokenProtocol()
"""HTTP/1.1 without TLS."""


class ProtocolKeys(ManifestModel):
    """What is spoken, as a scenario or a load says it."""

    protocol: Protocol = "h1"
    """`h1` is HTTP/1.1; `h2c` is HTTP/2 without TLS, by prior knowledge; `h2` is HTTP/2 over TLS. A load that states
    neither `protocol` nor `tls` has the scenario's. The contract is checked in each protocol that a load speaks."""
    tls: bool = False
    """Whether it is spoken over TLS, with a certificate that the lab makes. `h2` always is. The service reads the files
    from `TLS_CERT` and `TLS_KEY`, which it has only when it is to speak TLS; `{tls.cert}` and `{tls.key}` in `run` and
    `env` name them, too."""

    @model_validator(mode="before")
    @classmethod
    def _h2_is_over_tls(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("protocol") == "h2":
            return {"tls": True, **data}
        return data

    @model_validator(mode="after")
    def _fits_together(self) -> ProtocolKeys:
        if self.protocol == "h2" and not self.tls:
            raise ValueError('protocol "h2" is HTTP/2 over TLS: leave `tls` out, or set `protocol = "h2c"`')
        if self.protocol == "h2c" and self.tls:
            raise ValueError('protocol "h2c" is HTTP/2 without TLS: leave `tls` out, or set `protocol = "h2"`')
        return self

    @property
    def spoken(self) -> SpokenProtocol:
        """Protocol and TLS as one value."""
        return SpokenProtocol(self.protocol, self.tls)


def spoken_by_all(data: Any) -> Any:
    """A scenario's table in which each load that states neither key has the scenario's own."""
    if not isinstance(data, dict) or not isinstance(data.get("loads"), dict):
        return data
    own = {key: data[key] for key in ("protocol", "tls") if key in data}
    if not own or own.get("protocol", "h1") not in get_args(Protocol) or not isinstance(own.get("tls", True), bool):
        return data
    inherits = {
        name: {**own, **load} if isinstance(load, dict) and {"protocol", "tls"}.isdisjoint(load) else load
        for name, load in data["loads"].items()
    }
    return {**data, "loads": inherits}
