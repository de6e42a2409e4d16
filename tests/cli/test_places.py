"""What the commands keep of where they were called."""

from __future__ import annotations

import pytest

from touchstone.cli.places import as_typed
from touchstone.record.secret import shown_command, shown_environment


def test_a_command_is_kept_without_the_folder_that_it_lies_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/somewhere/bin/touchstone", "run", "users", "--quick"])
    assert as_typed() == ("touchstone", "run", "users", "--quick")


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("postgres://me:hunter2@db/app", "postgres://me:(hidden)@db/app"),
        ("db=http://:hunter2@127.0.0.1:80/", "db=http://:(hidden)@127.0.0.1:80/"),
        ("Authorization: Bearer hunter2", "Authorization: (hidden)"),
        ("-HX-Api-Key: hunter2", "-HX-Api-Key: (hidden)"),
        ("--header=Cookie: a=hunter2", "--header=Cookie: (hidden)"),
        ("Accept: application/json", "Accept: application/json"),
        ("http://127.0.0.1:8080/a?b:c@d", "http://127.0.0.1:8080/a?b:c@d"),
        ("latency_p99=10%", "latency_p99=10%"),
    ],
)
def test_a_secret_on_the_command_line_is_hidden(word: str, shown: str) -> None:
    assert shown_command([word]) == (shown,)


def test_secrets_of_an_environment_are_hidden() -> None:
    env = {
        "STRIPE_API_KEY": "hunter2",
        "DB_PASSWD": "hunter2",
        "DATABASE_URL": "mysql://me:hunter2@db/app",
        "PORT": "80",
    }
    shown = shown_environment(env)
    assert "hunter2" not in " ".join(shown.values())
    assert (shown["PORT"], shown["DATABASE_URL"]) == ("80", "mysql://me:(hidden)@db/app")
