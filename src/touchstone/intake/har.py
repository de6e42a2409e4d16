"""A draft from a HAR file, which browsers write: the recorded session as a journey, and its pages as a contract."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, get_args
from urllib.parse import SplitResult, urlsplit

from touchstone.failure import UsageError
from touchstone.intake.draft import Draft, DraftLoad, DraftRequest, slug
from touchstone.manifest.exchange import Method

_SECRET = {"authorization", "cookie", "proxy-authorization", "x-api-key"}
"""They do not belong into a file that is kept; cookies are sent back by the journey itself."""
_KEPT = {"accept", "accept-language", "content-type", "x-requested-with"}
"""The other fields are the browser's own, or follow from the request."""
_SHORTEST_THINK_S, _LONGEST_THINK_S = 0.1, 10.0


def draft_from_har(file: Path) -> Draft:
    """Read a recording. Raises UsageError that says what it lacks."""
    try:
        entries = json.loads(file.read_text(encoding="utf-8-sig"))["log"]["entries"]
        recorded = [_Entry(entry) for entry in entries]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the HAR file cannot be read: {error}", where=str(file)) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        fix = "save it from the browser's network tools as HAR"
        raise UsageError(f"this is no HAR file: {type(error).__name__} {error}", where=str(file), fix=fix) from error
    known = [one for one in recorded if one.method in get_args(Method) and one.url.netloc and 100 <= one.status <= 599]
    if not known:
        raise UsageError("the HAR file holds no request that was answered", where=str(file))
    # A page calls others for fonts and figures; the service is whom most requests went to.
    host = Counter(one.url.netloc for one in known).most_common(1)[0][0]
    session = [one for one in known if one.url.netloc == host]
    steps = [one.request(_pause(session, number)) for number, one in enumerate(session)]
    pages = {one.target: one for one in reversed(steps) if one.method == "GET" and one.status < 300}
    contract = list(reversed(pages.values())) or steps[:1]
    load = DraftLoad("session", "The session that was recorded", steps, journey=True)
    return Draft(f"A session with {host}", file.name, contract, [load])


class _Entry:
    """A recorded request with its response."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        asked, answered = entry["request"], entry["response"]
        self.method = str(asked["method"]).upper()
        self.url: SplitResult = urlsplit(str(asked["url"]))
        self.status = int(answered["status"])
        self.begun = datetime.fromisoformat(str(entry["startedDateTime"]))
        self.took_s = max(0.0, float(entry.get("time") or 0.0)) / 1000
        self._headers = {str(one["name"]).lower(): str(one["value"]) for one in asked.get("headers") or []}
        self._body = (asked.get("postData") or {}).get("text")
        self._type = str((answered.get("content") or {}).get("mimeType") or "").partition(";")[0].strip().lower()

    def request(self, think_s: float) -> DraftRequest:
        target = (self.url.path or "/") + (f"?{self.url.query}" if self.url.query else "")
        secrets = sorted(_SECRET & self._headers.keys() - {"cookie"})
        return DraftRequest(
            name=slug(f"{self.method} {self.url.path}"),
            method=self.method,
            target=target,
            says=f"{self.method} {self.url.path or '/'} is answered {self.status}",
            status=self.status,
            headers={name: value for name, value in self._headers.items() if name in _KEPT},
            body=None if self._body is None else str(self._body),
            content_type=self._type or None,
            think_s=think_s,
            guessed=f"left out, because it is a secret: {', '.join(secrets)}" if secrets else "",
        )


def _pause(session: Sequence[_Entry], number: int) -> float:
    """Seconds between a response and the next request; 0 where the browser did not wait."""
    if number + 1 == len(session):
        return 0.0
    here, behind = session[number], session[number + 1]
    pause = (behind.begun - here.begun).total_seconds() - here.took_s
    return round(min(pause, _LONGEST_THINK_S), 1) if pause >= _SHORTEST_THINK_S else 0.0
