"""No secret stands in a draft, wherever it was sent and however it was written there."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

from hypothesis import given
from hypothesis import strategies as st

from tests.intake.recordings import entry, har
from touchstone.intake.har.drafting import draft_from_har

MARK = "Zq7"
SECRETS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12).map(lambda text: f"{MARK}x{text}9")
NAMES = st.sampled_from(
    ["password", "access_token", "client_secret", "sig", "X-Amz-Signature", "code", "sessionId", "apiKey", "user[pass]"]
)
JWTS = st.text("abcXYZ019_-", min_size=4, max_size=20).map(lambda text: f"eyJhbGci{MARK}.{MARK}{text}.{MARK}")


def nested(name: str, secret: str) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.sampled_from([{name: secret}, {"a": 1, name: secret, "b": "c"}, {name: [secret]}]),
        lambda inner: st.one_of(
            st.builds(lambda one: {"data": one, "n": None}, inner),
            st.builds(lambda one: [1.5, one, "x"], inner),
            st.builds(lambda one: {"text": json.dumps(one)}, inner),
        ),
        max_leaves=3,
    )


@st.composite
def sent(draw: st.DrawFn) -> dict[str, Any]:
    """A request that carries a secret in one of its parts."""
    name, secret, jwt = draw(NAMES), draw(SECRETS), draw(JWTS)
    document = json.dumps(
        draw(nested(name, secret)), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1]))
    )
    ascii_secret = quote(secret, safe="")
    part = f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{secret}\r\n--b--\r\n'
    kinds: list[dict[str, Any]] = [
        {"url": f"/a?x=1&{quote(name)}={ascii_secret}&y=2"},
        {"url": f"/a?{quote(name)}={quote_plus(secret)}#f"},
        {"url": "/a?q=" + quote(document, safe="")},
        {"url": "/a?to=" + quote(f"https://b.test/?{quote(name)}={ascii_secret}", safe="")},
        {"url": f"/a/{jwt}/b"},
        {"url": f"/a;{'sid' if '[' in name else name}={ascii_secret}"},
        {"url": f"http://ann:{ascii_secret}@shop.test/a"},
        {"headers": {"Authorization": f"Bearer {ascii_secret}"}},
        {"headers": {f"X-Auth-{name.replace('[', '-').replace(']', '')}": ascii_secret}},
        {"headers": {"Cookie": f"a=b; {name.replace('[', '').replace(']', '')}={ascii_secret}; theme=dark"}},
        {"headers": {"Referer": f"https://b.test/?{quote(name)}={ascii_secret}"}},
        {"headers": {"X-Any": f"k {jwt}"}},
        {"post": {"mimeType": "application/json", "text": document}},
        {"post": {"mimeType": "text/plain", "text": document}},
        {"post": {"mimeType": "application/x-www-form-urlencoded", "text": urlencode({"a": "b", name: secret})}},
        {"post": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": name, "value": secret}]}},
        {"post": {"mimeType": "application/x-www-form-urlencoded", "text": urlencode({"json": document})}},
        {"post": {"mimeType": "multipart/form-data; boundary=b", "text": part}},
        {"post": {"mimeType": "multipart/form-data; boundary=b", "params": [{"name": name, "value": secret}]}},
        {"post": {"mimeType": "application/octet-stream", "text": f"\u0000{jwt}\u00ff"}},
    ]
    chosen = draw(st.sampled_from(kinds))
    return entry("POST", chosen.pop("url", "/a"), 200, **chosen)


@given(st.lists(sent(), min_size=1, max_size=3))
def test_no_secret_is_written(tmp_path_factory: Any, entries: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.mktemp("draft")
    draft = draft_from_har(har(folder, entry("GET", "/", 200), *entries))
    text = draft.toml("shop") + "".join(draft.concealed().notes)
    assert MARK.lower() not in text.lower()
    assert len(draft.loads[0].requests) == 1 + len(entries), draft.notes
