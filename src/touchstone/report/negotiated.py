"""What handshakes of TLS agreed on, in sentences: contenders whose ciphers differ do not do the same work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from touchstone.record.engine import Negotiated, TlsUse
from touchstone.report.format import percent
from touchstone.report.view import PhaseAndLoad, View

_FEW = 3


def negotiated_lines(view: View, place: PhaseAndLoad) -> list[str]:
    """A sentence for contenders whose handshakes agreed on the same; none without TLS."""
    used: dict[str, list[TlsUse]] = {}
    for sample in view.samples(place):
        if sample.result is not None and sample.result.tls is not None:
            used.setdefault(sample.contender, []).append(sample.result.tls)
    groups: dict[str, list[str]] = {}
    for contender, uses in used.items():
        groups.setdefault(_words(uses), []).append(contender)
    return [f"{', '.join(names)}: {words}" for words, names in groups.items() if words]


def _words(uses: Sequence[TlsUse]) -> str:
    """Version, cipher, group and protocol, the most frequent first, and the share of resumed handshakes."""
    counts: Counter[str] = Counter()
    for use in uses:
        for one in use.negotiated:
            counts[_agreed(one)] += one.handshakes
    whole = counts.total()
    if not whole:
        return ""
    most = counts.most_common(_FEW)
    shown = [words if len(counts) == 1 else f"{words} ({percent(count / whole)})" for words, count in most]
    shown += [f"{len(counts) - _FEW} others"] if len(counts) > _FEW else []
    resumed = sum(use.resumed for use in uses) / max(1, sum(use.full + use.resumed for use in uses))
    return "; ".join(shown) + (f"; {percent(resumed)} of the handshakes resumed a session" if resumed else "")


def _agreed(one: Negotiated) -> str:
    alpn = f"ALPN {one.alpn}" if one.alpn else "no ALPN"
    return ", ".join(part for part in (f"TLS {one.version}", one.cipher, one.group, alpn) if part)
