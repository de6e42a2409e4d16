"""What is spoken with a service: HTTP/1.1 or HTTP/2, over TLS or without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import ValidationInfo, model_validator

from touchstone.manifest.base import ManifestModel

Protocol = Literal["h1", "h2c", "h2"]
Label = Literal["h1", "h1-tls", "h2c", "h2"]

_WORDS: Mapping[Label, str] = {
    "h1": "HTTP/1.1",
    "h1-tls": "HTTP/1.1 over TLS",
    "h2c": "HTTP/2 without TLS (h2c)",
    "h2": "HTTP/2 over TLS",
}


class TlsSettings(ManifestModel):
    """How TLS is spoken with the service, by all that touchstone sends: its client's side.

    Every key may be left out.
    """

    verify: bool | None = None
    """Whether the service's certificate must be valid. If it is left out, it must be where the service is not on this
    machine, or `ca_file` is given."""
    ca_file: str | None = None
    """A PEM file, next to the manifest, of authorities to trust in place of the system's; or the service's own
    certificate."""
    cert: str | None = None
    """A PEM file, next to the manifest, with the client's certificate and those that lead to its authority."""
    key: str | None = None
    """A PEM file, next to the manifest, with the key of `cert`, not encrypted; if it is left out, `cert` holds it."""
    sni: str | None = None
    """The name that is sent to the service (SNI), and that its certificate must have; `""` sends none. If it is left
    out, the URL's host is sent where that is a name."""
    min_version: Literal["1.2", "1.3"] | None = None
    """The oldest version of TLS that is offered; 1.2 if it is left out."""
    resume: bool = False
    """Whether a new connection resumes the session of an earlier one, where the service lets it. If not, each has a
    full handshake."""

    @model_validator(mode="before")
    @classmethod
    def _files_are_next_to_the_manifest(cls, data: Any, info: ValidationInfo) -> Any:
        folder = (info.context or {}).get("folder")
        if not isinstance(data, dict) or not isinstance(folder, Path):
            return data
        files = {name: data[name] for name in ("ca_file", "cert", "key") if isinstance(data.get(name), str)}
        return data | {name: str((folder / file).resolve()) for name, file in files.items()}

    @model_validator(mode="after")
    def _fits_together(self) -> TlsSettings:
        if self.verify is False and self.ca_file is not None:
            raise ValueError("`ca_file` is what certificates are verified with: leave it out, or `verify = false`")
        if self.key is not None and self.cert is None:
            raise ValueError("`key` belongs to the client's certificate: name that by `cert`")
        return self

    @property
    def given(self) -> dict[str, Any]:
        """The keys that say something, as the engine's jobs have them."""
        return self.model_dump(exclude_defaults=True)


USUAL_TLS = TlsSettings()
"""TLS 1.2 or 1.3 with full handshakes, and no certificate of the client."""


@dataclass(frozen=True)
class SpokenProtocol:
    """A protocol, over TLS or without."""

    protocol: Protocol = "h1"
    tls: bool = False
    settings: TlsSettings = USUAL_TLS
    """How TLS is spoken, if it is."""

    @property
    def label(self) -> Label:
        """The short name, as `speaks` in stack.toml has it."""
        return "h1-tls" if self.protocol == "h1" and self.tls else self.protocol

    def with_label(self, label: Label) -> SpokenProtocol:
        """What a short name stands for, with these settings of TLS."""
        tls = label in ("h1-tls", "h2")
        return SpokenProtocol("h1" if label == "h1-tls" else label, tls, self.settings if tls else USUAL_TLS)

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
    """`h1` is HTTP/1.1; `h2c` is HTTP/2 without TLS, with prior knowledge; `h2` is HTTP/2 over TLS. A load that states
    neither `protocol` nor `tls` uses those of the scenario. The contract is checked in each protocol that a load
    speaks."""
    tls: bool | TlsSettings = False
    """Whether the protocol runs over TLS, with a certificate that touchstone makes; `h2` always does. `TLS_CERT` and
    `TLS_KEY` hold the paths of the certificate and its key. They are set only if the service has to use TLS.
    `{tls.cert}` and `{tls.key}` in `run` and `env` are the same paths. A table means `true` and says how TLS is spoken;
    loads over TLS without their own table use the scenario's."""

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
        if isinstance(self.tls, TlsSettings):
            return SpokenProtocol(self.protocol, tls=True, settings=self.tls)
        return SpokenProtocol(self.protocol, self.tls)


def spoken_by_all(data: Any) -> Any:
    """A scenario's table in which each load that states neither key has the scenario's own.

    Where the scenario's `tls` is a table, loads over TLS without a table have that one.
    """
    if not isinstance(data, dict) or not isinstance(data.get("loads"), dict):
        return data
    own = {key: data[key] for key in ("protocol", "tls") if key in data}
    tls = own.get("tls", True)
    if not own or own.get("protocol", "h1") not in get_args(Protocol) or not isinstance(tls, bool | dict):
        return data

    def inherits(load: Any) -> Any:
        if not isinstance(load, dict):
            return load
        if {"protocol", "tls"}.isdisjoint(load):
            return {**own, **load}
        over_tls = load.get("tls", load.get("protocol") == "h2")
        return {**load, "tls": tls} if over_tls is True and isinstance(tls, dict) else load

    return {**data, "loads": {name: inherits(load) for name, load in data["loads"].items()}}
