"""Secrets are found by the names of what holds them and by their form, at any depth, and replaced in every text."""

from __future__ import annotations

import json
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from touchstone.intake.draft import Draft, DraftLoad, DraftRequest
from touchstone.intake.secrets import in_body, in_field, in_target
from touchstone.vocabulary.secret import names_sent_secret

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
FORM = "application/x-www-form-urlencoded"


def words(text: str) -> list[str]:
    return text.split()


@pytest.mark.parametrize(
    "name",
    words(
        "access_token api_key apiKey APIKey sig signature X-Amz-Signature X-Amz-Security-Token X-Goog-Signature code "
        "client_secret clientSecret clientsecret password user[password] refresh_token id_token sid session session_id "
        "connect.sid PHPSESSID JSESSIONID ASP.NET_SessionId authenticity_token __RequestVerificationToken _csrf "
        "csrfmiddlewaretoken X-XSRF-TOKEN x-auth-token pin otp authCode code_verifier SAMLResponse pwd passwd jwt "
        "Ocp-Apim-Subscription-Key x-functions-key pass"
    ),
)
def test_names_of_secrets(name: str) -> None:
    assert names_sent_secret(name)


@pytest.mark.parametrize(
    "name",
    words(
        "client_id Client-ID token_type expires_in country_code status_code postal_code code_challenge email lang "
        "token_endpoint session_started cookie_consent pinned secretary author authority X-Amz-Date "
        "content-type passenger compass"
    ),
)
def test_names_of_what_is_none(name: str) -> None:
    assert not names_sent_secret(name)


@pytest.mark.parametrize(
    ("target", "secrets"),
    [
        ("/me?access_token=abc123&page=2", ["abc123"]),
        ("/f?X-Amz-Signature=sigsig&X-Amz-Date=2026&sig=s1", ["sigsig", "s1"]),
        ("/f?sig=a%2Fb%3D", ["a/b="]),
        ("/f?sig=a+b%2F", ["a+b%2F"]),
        (f"/reset/{JWT}/go", [JWT]),
        (f"/go?then={JWT}", [JWT]),
        ("/cart;jsessionid=9F8E7D?x=1", ["9F8E7D"]),
        ("/go?to=" + quote("https://b.test/cb?code=c0d3&state=1", safe=""), ["c0d3"]),
        ("/q?variables=" + quote('{"input":{"password":"hunter2"}}', safe=""), ["hunter2"]),
        ("/go?to=http://ann:hunter2@b.test/", ["ann:hunter2"]),
        ("/maps?key=AIzaSyA1234567890abcdefghijklmnopqrstuv&q=key", ["AIzaSyA1234567890abcdefghijklmnopqrstuv"]),
        ("/x?max_tokens=256&token_type=bearer&password=&key=ArrowUp", []),
    ],
)
def test_secrets_of_a_target(target: str, secrets: list[str]) -> None:
    found = in_target(target)
    assert [span.value for span in found] == secrets
    assert all(target[span.start : span.end] for span in found)


@pytest.mark.parametrize(
    ("name", "value", "secrets"),
    [
        ("Authorization", "Bearer bearbear", ["bearbear"]),
        ("authorization", "Basic YW5uOmh1bnRlcjI=", ["YW5uOmh1bnRlcjI="]),
        ("authorization", "AWS4-HMAC-SHA256 Credential=x, Signature=y", ["AWS4-HMAC-SHA256 Credential=x, Signature=y"]),
        ("x-api-key", "k", ["k"]),
        ("x-anything", f"id {JWT}", [JWT]),
        ("referer", "http://a.test/cb?code=c0d3&x=1", ["c0d3"]),
        ("cookie", "sid=1; theme=dark; lang=en-US; _app=Zm9vYmFyMQ", ["1", "Zm9vYmFyMQ"]),
        ("client-id", "demo-web", []),
        ("accept", "text/html;q=0.9", []),
        ("if-none-match", '"a1"', []),
    ],
)
def test_secrets_of_a_field(name: str, value: str, secrets: list[str]) -> None:
    found = in_field(name, value)
    assert [span.value for span in found] == secrets
    assert [value[span.start : span.end] for span in found] == secrets


PARTS = (
    '--b\r\nContent-Disposition: form-data; name="user"\r\n\r\nann\r\n--b\r\nContent-Disposition: form-data; '
    'name="password"\r\n\r\nhunter2\r\n--b\r\nContent-Disposition: form-data; name="meta"\r\nContent-Type: '
    'application/json\r\n\r\n{"token": "t0k"}\r\n--b--\r\n'
)


@pytest.mark.parametrize(
    ("body", "kind", "secrets"),
    [
        ('{"email":"a@b","password":"hunter2"}', "application/json", ["hunter2"]),
        ('{"a":[{"b":{"api_key":"k\\n1"}}], "c": 1.50}', "application/json", ["k\n1"]),
        ('{"tokens":["a1b2","c3d4"],"max_tokens":25}', "application/json", ["a1b2", "c3d4"]),
        ('{"credentials":{"type":"bearer","value":"x9y8"}}', "application/json", ["x9y8"]),
        ('{"pin":1234,"on":true}', "application/json", ["1234"]),
        (json.dumps({"inner": json.dumps({"secret": "hunter2"})}), "application/json", ["hunter2"]),
        (f'{{"any":"{JWT}"}}', "application/json", [JWT]),
        ('{"query":"mutation { login(password: \\"hunter2\\") }"}', "application/json", ["hunter2"]),
        ("user=ann&password=hunter3&client_secret=cs42", FORM, ["hunter3", "cs42"]),
        ("password=a+b%26", FORM, ["a b&"]),
        (PARTS, "multipart/form-data; boundary=b", ["hunter2", "t0k"]),
        ("<a><wsse:Password Type='x'>hunter2</wsse:Password></a>", "text/xml", ["hunter2"]),
        ('<login user="ann" password="hunter2"/>', "application/xml", ["hunter2"]),
        ("{password: 'hunter2'}", "text/plain", ["hunter2"]),
        ('{"a":1}\n{"token":"x1"}\n', "application/x-ndjson", ["x1"]),
        ('{"a":{"name":"b"},"code":', "application/json", []),
    ],
)
def test_secrets_of_a_body(body: str, kind: str, secrets: list[str]) -> None:
    assert [span.value for span in in_body(body, kind)] == secrets


def request(**more: object) -> DraftRequest:
    return DraftRequest("", "POST", "/login", "", **more)  # type: ignore[arg-type]


def toml(*requests: DraftRequest, **more: object) -> str:
    return Draft("Notes", "n", requests, [DraftLoad("mix", "A mix", requests)], **more).toml("notes")  # type: ignore[arg-type]


def test_equal_secrets_have_one_variable_and_others_have_their_own() -> None:
    json_kind = {"content-type": "application/json"}
    text = toml(
        request(headers=json_kind, body='{"password":"hunter2"}'),
        request(headers=json_kind, body='{"password":"hunter3"}'),
        DraftRequest("", "GET", "/echo/hunter2?sig=hunter2", "", headers={"referer": "http://a.test/hunter2"}),
    )
    assert "hunter" not in text
    assert """body = '{"password":"{env.PASSWORD:json}"}'""" in text
    assert """body = '{"password":"{env.PASSWORD_2:json}"}'""" in text
    assert 'target = "/echo/{env.PASSWORD}?sig={env.PASSWORD:url}"' in text
    assert 'says = "GET /echo/{PASSWORD}?sig={PASSWORD} is answered 200"' in text
    assert "PASSWORD (password), PASSWORD_2 (password)" in " ".join(text.replace("\n#", "").split())


def test_a_variable_is_called_a_secret_and_never_like_one_that_is_set_anyway() -> None:
    text = toml(DraftRequest("", "GET", "/f?sig=s1&pwd=p1", "", headers={"cookie": "LANG=Zm9vYmFyMQ"}))
    assert "sig={env.SIG_SECRET:url}&pwd={env.PWD_SECRET:url}" in text
    assert "LANG={env.COOKIE_LANG}" in text


def test_no_expectation_holds_a_secret() -> None:
    text = toml(
        DraftRequest("me", "GET", "/me", "who", json_values={"token": "t0k3n1", "name": "Ann"}, json_exact=True),
        DraftRequest("page", "GET", "/p?sig=abc12345", "page", answer="your sig: abc12345"),
    )
    assert "t0k3n1" not in text
    assert "abc12345" not in text
    assert 'json = { token = { type = "string" }, name = "Ann" }, json_exact = true' in text
    assert "# look: a secret in the response is not compared" in text


def test_braces_next_to_a_secret_stay_braces(tmp_path: Path) -> None:
    body = '{"a":"{x}","secret":{{"token":5}}'
    draft = Draft("n", "n", [request(body=body)], [DraftLoad("mix", "m", [request(body=body)])])
    assert draft.write(tmp_path / "notes").exists()


@pytest.mark.parametrize(
    "part", ["a", "a=", "eyJ", "[", "<a>", '{"token":', "://a:", "token=", "--b\r\n", '"', '\\"', "a: ", "secret:'"]
)
def test_the_work_grows_with_the_text_and_not_with_its_square(part: str) -> None:
    def cost(length: int) -> float:
        text = part * (length // len(part))
        begun = time.process_time()
        for kind in ("text/plain", FORM, "multipart/form-data; boundary=b"):
            in_body(text, kind)
        in_target(f"/{text}?{text}")
        return time.process_time() - begun

    # A cache that others use makes a linear reader up to three times as slow.
    short = max(0.005, *(cost(10_000) for _ in range(3)))
    assert cost(200_000) < 100 * short, "20 times for a linear reader, 400 for a quadratic one"
