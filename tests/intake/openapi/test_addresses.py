"""Servers say which path comes before an operation's, and security schemes where a secret goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.intake.openapi.documents import document, file_of, get, loaded, post, steps_of, text_of
from touchstone.intake.openapi.drafting import draft_from_openapi


def server(url: str, **defaults: Any) -> dict[str, Any]:
    return {"url": url, "variables": {name: {"default": value} for name, value in defaults.items()}}


@pytest.mark.parametrize(
    ("servers", "target"),
    [
        ([], "/ping"),
        ([server("/")], "/ping"),
        ([server("/api/v3")], "/api/v3/ping"),
        ([server("/api/v3/")], "/api/v3/ping"),
        ([server("https://example.org")], "/ping"),
        ([server("https://example.org:8443/api?x=1#y")], "/api/ping"),
        ([server("//example.org/api")], "/api/ping"),
        ([server("http://127.0.0.1:9028/api/{version}", version="v3")], "/api/v3/ping"),
        ([server("{root}/qod/v0", root="http://localhost:9091")], "/qod/v0/ping"),
        ([server("{scheme}://{host}:{port}{base}", scheme="https", host="h", port="1", base="/b")], "/b/ping"),
        ([server("https://example.org/{empty}", empty="")], "/ping"),
        ([server("/first"), server("/second")], "/first/ping"),
        ([{"url": "/{v}", "variables": {"v": {"enum": ["one", "two"]}}}], "/one/ping"),
    ],
)
def test_the_first_servers_path_comes_first(tmp_path: Path, servers: list[Any], target: str) -> None:
    held = document({"/ping": get()}, servers=servers)
    assert steps_of(tmp_path, held)["get-ping"]["target"] == target
    assert "look" not in text_of(tmp_path, held).replace("Look at", "")
    assert loaded(tmp_path, held) == [target]


def test_a_version_of_a_server_is_a_text(tmp_path: Path) -> None:
    text = "openapi: 3.0.3\nservers: [{url: '/{v}', variables: {v: {default: 1.10}}}]\npaths: {/a: {get: {}}}"
    assert steps_of(tmp_path, text, "api.yaml")["get-a"]["target"] == "/1.10/a"


def test_servers_of_a_path_and_an_operation_come_before_the_documents(tmp_path: Path) -> None:
    paths = {
        "/a": get(),
        "/b": get() | {"servers": [server("/of-path")]},
        "/c": get(servers=[server("/of-operation")]) | {"servers": [server("/of-path")]},
        "/d": get(servers=[server("https://files.example.org/d")]),
        "/e": get(servers=[]),
    }
    held = document(paths, servers=[server("https://api.example.org/v1")])
    targets = [step["target"] for step in steps_of(tmp_path, held).values()]
    assert targets == ["/v1/a", "/of-path/b", "/of-operation/c", "/d/d", "/v1/e"]
    assert "has it answered by files.example.org, and others by api.example.org" in text_of(tmp_path, held)
    assert loaded(tmp_path, held) == ["/v1/a", "/of-path/b", "/of-operation/c", "/v1/e"]


@pytest.mark.parametrize(
    ("servers", "target", "why"),
    [
        ([server("/api/{version}")], "/api/version/ping", "the server's {version} has no value in the document"),
        ([server("v1")], "/v1/ping", "the server 'v1' is relative to the document's URL"),
        ([server("../api")], "/api/ping", "relative to the document's URL"),
        ([server("http://[::1")], "/ping", "is not a URL"),
        ([server("/a b")], "/ping", "is not a path that can be sent"),
        (["/api"], "/ping", "it is not an object"),
        ({"url": "/api"}, "/ping", "`servers` is not an array"),
        ([{"url": ["/api"]}], "/ping", "`url` is not text"),
        ([{"url": "/{a}", "variables": []}], "/ping", "`variables` is not an object"),
    ],
)
def test_a_server_that_is_not_known_is_marked_once(tmp_path: Path, servers: Any, target: str, why: str) -> None:
    held = document({"/ping": get(), "/pong": get()}, servers=servers)
    assert steps_of(tmp_path, held)["get-ping"]["target"] == target
    text = text_of(tmp_path, held).replace("\n# ", " ")
    assert text.count(why) == 1
    assert "# look: " in text.partition("schema = 1")[0] or "look: " in text.partition("schema = 1")[0]


SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "Basic Auth": {"type": "http", "scheme": "Basic"},
    "apiKey": {"type": "apiKey", "in": "query", "name": "api key"},
    "hkey": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "session": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "oauth": {"type": "oauth2", "flows": {}},
    "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://example.org"},
    "home": {"type": "apiKey", "in": "header", "name": "Authorization"},
    "mutual": {"type": "mutualTLS"},
    "digest": {"type": "http", "scheme": "digest"},
    "odd": {"type": "apiKey", "in": "body", "name": "k"},
    "nameless": {"type": "apiKey", "in": "query"},
    "list": [],
}


def secured(*security: Any, **more: Any) -> dict[str, Any]:
    return (
        document(
            {"/open": get(security=[]), "/a": get(security=list(security))}, components={"securitySchemes": SCHEMES}
        )
        | more
    )


@pytest.mark.parametrize(
    ("security", "field", "variables"),
    [
        ([{"bearer": []}], ("authorization", "Bearer {env.BEARER_TOKEN}"), ["BEARER_TOKEN"]),
        ([{"Basic Auth": []}], ("authorization", "Basic {env.BASIC_AUTH_LOGIN}"), ["BASIC_AUTH_LOGIN"]),
        ([{"oauth": ["read"]}], ("authorization", "Bearer {env.OAUTH_TOKEN}"), ["OAUTH_TOKEN"]),
        ([{"oidc": []}], ("authorization", "Bearer {env.OIDC_TOKEN}"), ["OIDC_TOKEN"]),
        ([{"hkey": []}], ("X-Key", "{env.HKEY_KEY}"), ["HKEY_KEY"]),
        ([{"home": []}], ("Authorization", "{env.HOME_KEY}"), ["HOME_KEY"]),
        ([{"session": []}], ("cookie", "sid={env.SESSION_KEY}"), ["SESSION_KEY"]),
        ([{"hkey": [], "session": []}], ("cookie", "sid={env.SESSION_KEY}"), ["HKEY_KEY", "SESSION_KEY"]),
        ([{"mutual": []}, {"hkey": []}], ("X-Key", "{env.HKEY_KEY}"), ["HKEY_KEY"]),
    ],
)
def test_a_secret_is_a_placeholder_where_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, security: Any, field: tuple[str, str], variables: list[str]
) -> None:
    for name in variables:
        monkeypatch.setenv(name, "x")
    held = secured(*security)
    sent = steps_of(tmp_path, held)["get-a"]
    assert sent["headers"][field[0]] == field[1]
    assert loaded(tmp_path, held) == ["/open", "/a"]
    (note,) = draft_from_openapi(file_of(tmp_path, held)).notes
    assert note.startswith("Set these variables where touchstone is called: ")
    assert all(f"{name} (" in note for name in variables)


def test_a_key_in_the_query_is_a_placeholder(tmp_path: Path) -> None:
    held = secured({"apiKey": []})
    text = draft_from_openapi(file_of(tmp_path, held)).toml("notes")
    assert 'target = "/a?api%20key={env.API_KEY}"' in text


@pytest.mark.parametrize("security", [[], [{}], [{"bearer": []}, {}], [{}, {"bearer": []}]])
def test_what_is_open_to_all_has_no_secret(tmp_path: Path, security: Any) -> None:
    held = secured(*security, security=[{"bearer": []}])
    assert "headers" not in steps_of(tmp_path, held)["get-a"]
    assert draft_from_openapi(file_of(tmp_path, held)).notes == []


def test_the_documents_security_is_for_all_that_say_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEARER_TOKEN", "x")
    components = {"securitySchemes": SCHEMES}
    held = document({"/a": get(), "/b": get(security=[])}, components=components, security=[{"bearer": []}])
    steps = steps_of(tmp_path, held)
    assert steps["get-a"]["headers"] == {"authorization": "Bearer {env.BEARER_TOKEN}"}
    assert "headers" not in steps["get-b"]


@pytest.mark.parametrize(
    ("security", "why"),
    [
        ([{"mutual": []}], "mutualtls (mutual) is more than a field"),
        ([{"digest": []}], "digest (digest) is more than a field"),
        ([{"odd": []}], "the key of odd is in 'body'"),
        ([{"nameless": []}], "the key of nameless has no name"),
        ([{"list": []}], "`list` is not an object"),
        ([{"gone": []}], "the document has no security scheme 'gone'"),
        ([{"bearer": [], "oauth": []}], "two schemes want the field authorization"),
        (["bearer"], "its security cannot be read"),
    ],
)
def test_a_secret_that_cannot_be_placed_is_marked(tmp_path: Path, security: Any, why: str) -> None:
    held = secured(*security)
    assert why in text_of(tmp_path, held).replace("\n# ", " ")
    assert loaded(tmp_path, held) == ["/open"]


def test_a_secret_and_parameters_go_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSION_KEY", "x")
    cookie = {"name": "lang", "in": "cookie", "required": True, "example": "{counter}"}
    operation = post({"application/json": {"schema": {"const": 1}}}, security=[{"session": []}], parameters=[cookie])
    held = document({"/a": operation}, components={"securitySchemes": SCHEMES})
    assert steps_of(tmp_path, held)["post-a"]["headers"] == {
        "cookie": "lang={brace}counter}; sid={env.SESSION_KEY}",
        "content-type": "application/json",
    }
