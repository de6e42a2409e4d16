"""The request of a Compose health check, and how long a start may take by it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from touchstone.intake.parts import DraftRequest

_URL = re.compile(r"https?://[^\s'\"|;&)]+")
_BARE = re.compile(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::\d+)?(/[^\s'\"|;&)]*)?")
_PART = re.compile(r"(\d+(?:\.\d+)?)(h|ms|us|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}
_USUAL = {"interval": 30.0, "timeout": 30.0, "retries": 3.0, "start_period": 0.0}
_LONGEST_S = 3600.0


def ready_request(check: Any) -> DraftRequest | None:
    """The request that a health check sends; None if it sends none."""
    words = _words(check)
    line = " ".join(words)
    url = _URL.search(line)
    asks = any(program in line for program in ("curl", "wget", "http"))
    bare = None if url or not asks else _BARE.search(line)
    if url is None and bare is None:
        return None
    parts = urlsplit(url[0]) if url else urlsplit(f"http://localhost{(bare and bare[1]) or '/'}")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        given = shlex.split(line)
    except ValueError:
        given = line.split()
    headers = dict(_headers(given))
    return DraftRequest("ready", "GET", target, f"GET {target} answers 200, as the health check asks", headers=headers)


def within_s(check: Any) -> float | None:
    """Seconds until Compose calls the service unhealthy; None if the check does not say."""
    if not isinstance(check, dict) or not {"interval", "retries", "start_period"} & check.keys():
        return None
    given = {name: _seconds(check.get(name), usual) for name, usual in _USUAL.items()}
    return min(given["start_period"] + given["interval"] * max(1.0, given["retries"]), _LONGEST_S)


def _seconds(held: Any, usual: float) -> float:
    text = str(held if held is not None else "")
    parts = _PART.findall(text)
    if parts:
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else usual


def _words(check: Any) -> list[str]:
    if not isinstance(check, dict) or check.get("disable") is True:
        return []
    test = check.get("test")
    words = [str(one) for one in test] if isinstance(test, list) else [str(test)] if test else []
    return [] if words[:1] == ["NONE"] else [one for one in words if one not in ("CMD", "CMD-SHELL")]


def _headers(words: Sequence[str]) -> list[tuple[str, str]]:
    """Header fields of a curl or wget command."""
    found = []
    for place, word in enumerate(words):
        value = words[place + 1] if word in ("-H", "--header") and place + 1 < len(words) else ""
        value = word.removeprefix("--header=") if word.startswith("--header=") else value
        name, colon, rest = value.partition(":")
        if colon:
            found.append((name.strip(), rest.strip()))
    return found
