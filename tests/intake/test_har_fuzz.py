"""No recording, however damaged, ends in anything but a scenario that is read back, or an error for a person."""

from __future__ import annotations

import json
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.intake.recordings import entry
from touchstone.failure import UsageError
from touchstone.intake.har.drafting import draft_from_har

ODD = [
    *(
        "",
        "{",
        "{{",
        "}",
        "{env.X}",
        "{a*9}",
        "{brace}",
        "\ud83d",
        "\r\n",
        "\x00",
        "//",
        "http://[",
        "%ff%zz",
        "9" * 5000,
    ),
    *("a=b&password=c", '{"token":"a1b2c3"}', "sid=a1b2c3d4; theme=x", "eyJhbGciOi.eyJzdWIiOi.x", "http://a:b@c/?d=e"),
    *("application/json", "multipart/form-data; boundary=b", "text/html;charset=utf-16", "--b\r\n\r\n", "2026-01-05"),
]
TEXTS = st.one_of(st.text(st.characters(codec=None), max_size=30), st.sampled_from(ODD))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
NAMES = st.one_of(TEXTS, st.sampled_from(["Cookie", "content-type", "set-cookie", "etag", "if-none-match"]))
FIELDS = st.one_of(
    VALUES, st.lists(st.one_of(VALUES, st.fixed_dictionaries({"name": NAMES, "value": TEXTS})), max_size=4)
)
PARAMS = st.lists(st.fixed_dictionaries({"name": TEXTS}, optional={"value": VALUES, "fileName": VALUES}), max_size=3)
CODINGS = st.sampled_from(["base64", "", None, "x"])
STATUSES = st.one_of(st.sampled_from([200, 201, 204, 206, 302, 304, 401, 500, "200"]), VALUES)
TIMES = st.one_of(
    st.datetimes().map(str), st.sampled_from(["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-12:00"]), VALUES
)


def table(always: dict[str, Any], **sometimes: Any) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(always, optional={name: st.one_of(one, VALUES) for name, one in sometimes.items()})


POST = table({}, mimeType=TEXTS, text=TEXTS, encoding=CODINGS, params=PARAMS)
URLS = st.one_of(TEXTS, TEXTS.map("http://shop.test/{}".format))
METHODS = st.one_of(st.sampled_from(["GET", "POST", "put", "HEAD", "OPTIONS", "X"]), TEXTS)
REQUEST = table({"method": METHODS, "url": URLS, "headers": FIELDS}, postData=POST, cookies=FIELDS, bodySize=VALUES)
CONTENT = table({"mimeType": TEXTS}, text=TEXTS, encoding=CODINGS)
RESPONSE = table({"status": STATUSES}, headers=FIELDS, cookies=FIELDS, content=CONTENT, _error=TEXTS)
ENTRY = table(
    {"request": REQUEST, "response": RESPONSE},
    startedDateTime=TIMES, time=VALUES, timings=VALUES, _fromCache=VALUES, _resourceType=VALUES,
)  # fmt: skip


@given(st.lists(st.one_of(ENTRY, VALUES), max_size=5))
@example([entry("POST", "/a", 200, post={"text": '{"a":"{{env.X}"}', "mimeType": "application/json"})])
@example([entry("GET", "/a", 200, headers={"cookie": "a={env.X}; sid={capture.y}"})])
def test_one_entry_that_is_right_makes_a_draft_whatever_the_others_are(entries: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "session.har")
        file.write_text(json.dumps({"log": {"entries": [entry("GET", "/page", 200), *entries]}}), encoding="utf-8")
        written = draft_from_har(file).write(Path(folder, "shop"))
        assert tomllib.loads(written.read_text(encoding="utf-8"))["loads"]["session"]["journeys"]


@given(VALUES)
def test_a_file_of_anything_is_refused_in_words(document: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "session.har")
        file.write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(UsageError):
            draft_from_har(file)
