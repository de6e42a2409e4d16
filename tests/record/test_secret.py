"""What is hidden of environments, command lines, requests and messages, and what is not."""

from __future__ import annotations

import pytest

from touchstone.record.engine import FirstError
from touchstone.record.secret import (
    shown_command,
    shown_environment,
    shown_job,
    shown_request,
    shown_target,
    shown_text,
)


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("postgres://me:hunter2@db/app", "postgres://me:(hidden)@db/app"),
        ("postgres://me:hunter@2@db/app", "postgres://me:(hidden)@db/app"),
        ("db=http://:hunter2@127.0.0.1:80/", "db=http://:(hidden)@127.0.0.1:80/"),
        ("Host=db;Password=hun;ter2;SSL Mode=Disable", "Host=db;Password=(hidden);SSL Mode=Disable"),
        ('Host=db;Password="hun;""ter=2";Port=5', "Host=db;Password=(hidden);Port=5"),
        (r"host=db password='hun\'ter 2' port=5", "host=db password=(hidden) port=5"),
        ("jdbc:mysql://db?user=me&password=hunter2&ssl=true", "jdbc:mysql://db?user=me&password=(hidden)&ssl=true"),
        ("-Ddb.pass=hunter2", "-Ddb.pass=(hidden)"),
        ("--api-key='hunter 2'", "--api-key=(hidden)"),
        ("http://127.0.0.1/?access_token=hunter2", "http://127.0.0.1/?access_token=(hidden)"),
        ("Authorization: Bearer hunter2", "Authorization: (hidden)"),
        ("-HX-Api-Key: hunter2", "-HX-Api-Key: (hidden)"),
        ("x_auth_token: hunter2", "x_auth_token: (hidden)"),
        ("--header=Cookie: a=hunter2", "--header=Cookie: (hidden)"),
        ("Accept: application/json", "Accept: application/json"),
        ("http://127.0.0.1:8080/a?b:c@d", "http://127.0.0.1:8080/a?b:c@d"),
        ("latency_p99=10%", "latency_p99=10%"),
    ],
)
def test_a_secret_on_the_command_line_is_hidden(word: str, shown: str) -> None:
    assert shown_command([word]) == (shown,)
    assert shown_command([shown]) == (shown,), "what is read back stays as it is"


def test_the_value_of_a_secret_option_is_the_word_behind_it() -> None:
    words = ["run", "--api-key", "hunter2", "--load", "ping"]
    assert shown_command(words) == ("run", "--api-key", "(hidden)", "--load", "ping")


def test_secrets_of_an_environment_are_hidden() -> None:
    env = {
        "STRIPE_API_KEY": "hunter2",
        "DB_PASSWD": "hunter2",
        "SMTP_PASS": "hunter2",
        "MYSQL_PWD": "hunter2",
        "REDISCLI_AUTH": "hunter2",
        "DATABASE_URL": "mysql://me:hunter2@db/app",
        "JAVA_TOOL_OPTIONS": "-Xmx64m -Dkeystore.password=hunter2",
        "DB_KEY": "hunter2",
        "PORT": "80",
        "PWD": "/srv",
    }
    shown = shown_environment(env)
    assert "hunter2" not in " ".join(shown.values())
    assert (shown["PORT"], shown["PWD"]) == ("80", "/srv")
    assert shown["DATABASE_URL"] == "mysql://me:(hidden)@db/app"
    assert shown["JAVA_TOOL_OPTIONS"] == "-Xmx64m -Dkeystore.password=(hidden)"


def test_a_request_keeps_its_body_and_loses_its_secrets() -> None:
    sent = "POST /login?token=hunter2&page=2 HTTP/1.1\r\nX-Api-Key: hunter2\r\nAccept: */*\r\n\r\npassword=guest"
    shown = shown_request(sent)
    assert "hunter2" not in shown
    assert "?token=(hidden)&page=2 HTTP/1.1" in shown
    assert shown.endswith("Accept: */*\r\n\r\npassword=guest")


def test_a_job_keeps_its_targets_without_their_secrets() -> None:
    job = {"url": "http://h/", "requests": [{"target": "/a?api_key=hunter2&b=1", "headers": [["Cookie", "a=hunter2"]]}]}
    assert shown_job(job) == {
        "url": "http://h/",
        "requests": [{"target": "/a?api_key=(hidden)&b=1", "headers": [["Cookie", "(hidden)"]]}],
    }


def test_what_a_service_echoes_of_a_secret_is_hidden() -> None:
    error = FirstError.model_validate(
        {
            "class": "wrong_status",
            "request": "GET /a?token=hunter2",
            "sent": "GET /a HTTP/1.1\r\nAuthorization: Bearer hunter2-4711\r\nCookie: s=sesame; t=1\r\n\r\n",
            "received": "HTTP/1.1 500 Oops\r\n\r\nno user of hunter2-4711 (Bearer hunter2-4711), nor of sesame",
            "why": "the token hunter2-4711 is old",
        }
    )
    assert (error.request, error.why) == ("GET /a?token=(hidden)", "the token (hidden) is old")
    assert error.received.endswith("no user of (hidden) ((hidden)), nor of (hidden)")


def test_a_message_is_left_as_it_is_but_for_passwords() -> None:
    said = "cannot connect to postgres://me:hunter2@db/app: FATAL: no pg_hba.conf entry, sslmode=prefer"
    assert shown_text(said) == said.replace("hunter2", "(hidden)")


def test_more_names_tell_a_secret_in_a_target_than_in_a_message() -> None:
    assert shown_target("/cb?code=c0d3&sig=s1&page=2") == "/cb?code=(hidden)&sig=(hidden)&page=2"
    assert shown_text("the answer had code=500") == "the answer had code=500"
    assert shown_job({"target": "/f?sig=s1"}) == {"target": "/f?sig=(hidden)"}
