"""A scenario drafted from a Compose file has the service and its dependencies, and names the keys that are left out."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.command import touchstone
from touchstone.failure import UsageError
from touchstone.intake.compose.drafting import ComposeDraft, draft_from_compose
from touchstone.intake.compose.project import read_project
from touchstone.intake.compose.variables import Variables, read_env

SERVER = """
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = f"{os.environ['GREETING']}".encode()
        self.send_response(200 if self.path == "/healthz" else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass

HTTPServer((os.environ["HOST"], int(os.environ["APP_PORT"])), Answer).serve_forever()
"""
BUILT = "services:\n  web:\n    build: .\n"


@pytest.mark.parametrize("key", ["build", "env_file", "image", "command"])
def test_a_value_that_no_system_can_take_is_refused_by_name(tmp_path: Path, key: str) -> None:
    with pytest.raises(UsageError, match="NUL character"):
        drafted(
            tmp_path,
            f'{BUILT}    {key}: "a\\0b"\n'.replace("    build: .\n", "" if key == "build" else "    build: .\n"),
        )


def test_an_environment_that_is_a_text_is_named_and_left_out(tmp_path: Path) -> None:
    found = drafted(tmp_path, f"{BUILT}    environment: A=1\n")
    assert [note for note in found.draft.notes if "neither a mapping nor a list" in note]


def drafted(folder: Path, text: str, chosen: str | None = None) -> ComposeDraft:
    (folder / "compose.yaml").write_text(text, encoding="utf-8")
    (folder / "requirements.txt").touch()
    (folder / "app.py").write_text(SERVER, encoding="utf-8")
    (folder / "Procfile").write_text("web: python app.py", encoding="utf-8")
    return draft_from_compose(folder / "compose.yaml", chosen)


def scenario(draft: ComposeDraft) -> dict[str, Any]:
    return tomllib.loads(draft.draft.toml("demo"))


@pytest.mark.parametrize(
    ("written", "values", "filled"),
    [
        ("$A-${A}", {"A": "1"}, "1-1"),
        ("${A:-x}${A-x}", {"A": ""}, "x"),
        ("${A:+x}${A+y}", {"A": ""}, "y"),
        ("${A:-${B:-c}}", {}, "c"),
        ("${A:-a}b}", {}, "ab}"),
        ("$$A $${A}", {"A": "1"}, "$A ${A}"),
        ("${A:?say it}", {"A": "1"}, "1"),
        ("a${A}b", {}, "ab"),
        ("${A:-x:y-z}", {}, "x:y-z"),
    ],
)
def test_variables_are_filled_in_as_compose_does(written: str, values: dict[str, str], filled: str) -> None:
    assert Variables(values).text(written) == filled


@pytest.mark.parametrize("written", ["${A:?say it}", "${A?}", "${A", "${1A}", "a $ b", "${A!x}"])
def test_what_is_no_variable_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"say it|required|closed|not a variable|before no name|not a name"):
        Variables({}).text(written)


def test_an_environment_file_is_read_as_compose_reads_it() -> None:
    text = (
        "# a comment\nexport A=1\nB = two # of them\nC='$A # as it is'\nD=\"${A}\\n2\"\nE: 5\nF\nG=\nH=a#b\nI=$A$B\n"
        'J="two\nlines"\r\nOUT\n'
    )
    assert read_env(text, {"OUT": "side"}) == {
        **{"A": "1", "B": "two", "C": "$A # as it is", "D": "1\n2", "E": "5", "G": "", "H": "a#b", "I": "1two"},
        **{"J": "two\nlines", "OUT": "side"},
    }


@pytest.mark.parametrize(
    ("port", "ports"),
    [
        ('"8080:80"', [(80, 8080)]),
        ("3000", [(3000, None)]),
        ('"127.0.0.1:8001:8000/tcp"', [(8000, 8001)]),
        ('"[::1]:8080:80"', [(80, 8080)]),
        ('"9090-9091:8080-8081"', [(8080, 9090), (8081, 9091)]),
        ('"53:53/udp"', []),
        ("{target: 80, published: '8080', protocol: tcp}", [(80, 8080)]),
        ('"${P:-8080}:80"', [(80, 8080)]),
    ],
)
def test_ports_are_read_in_both_syntaxes(tmp_path: Path, port: str, ports: list[tuple[int, int | None]]) -> None:
    (tmp_path / "compose.yaml").write_text(f"{BUILT}    ports: [{port}]\n", encoding="utf-8")
    assert read_project(tmp_path / "compose.yaml").services["web"].ports == ports


@pytest.mark.parametrize(
    ("image", "environment", "dependency"),
    [
        (
            "postgres:16",
            {"DATABASE_URL": "postgres://app:app@store:5432/app?sslmode=disable"},
            {"kind": "postgres", "env": "DATABASE_URL"},
        ),
        (
            "docker.io/bitnami/postgresql@sha256:00",
            {"SPRING_DATASOURCE_URL": "jdbc:postgresql://store:5432/app", "SPRING_DATASOURCE_PASSWORD": "app"},
            {
                "kind": "postgres",
                "env": "POSTGRES_URL",
                "variables": {"SPRING_DATASOURCE_URL": "{jdbc_url}", "SPRING_DATASOURCE_PASSWORD": "{password}"},
            },
        ),
        (
            "postgis/postgis:16",
            {"DB_HOST": "store", "DB_PORT": "5432", "DB_NAME": "store", "DB_USER": "app", "OTHER": "store"},
            {
                "kind": "postgres",
                "env": "POSTGRES_URL",
                "variables": {"DB_HOST": "{host}", "DB_PORT": "{port}", "DB_NAME": "{database}", "DB_USER": "{user}"},
            },
        ),
        (
            "confluentinc/cp-kafka",
            {"KAFKA_BROKERS": "store:9092"},
            {"kind": "kafka", "env": "KAFKA_BROKERS", "settings": {"topic": "events", "partitions": 1}},
        ),
        (
            "mongo:7",
            {"MONGODB_URL": "mongodb://store:27017/app"},
            {"kind": "process", "env": "MONGODB_URL", "settings": {"address": "mongodb://127.0.0.1:27017/app"}},
        ),
        (
            "mysql:8",
            {"DB_HOST": "store", "DB_PORT": "3306"},
            {
                "kind": "process",
                "env": "STORE_ADDRESS",
                "variables": {"DB_HOST": "{host}", "DB_PORT": "{port}"},
                "settings": {"address": "127.0.0.1:3306"},
            },
        ),
    ],
)
def test_a_service_that_is_talked_to_is_a_dependency(
    tmp_path: Path, image: str, environment: dict[str, str], dependency: dict[str, Any]
) -> None:
    lines = "".join(f"      {name}: '{value}'\n" for name, value in environment.items())
    store = f"  store:\n    image: {image}\n    environment: {{POSTGRES_USER: app}}\n    ports: []\n"
    found = scenario(drafted(tmp_path, f"{BUILT}    environment:\n{lines}{store}"))
    assert found["dependencies"] == {"store": dependency}
    assert set(found.get("settings", {})) == {"OTHER"} & environment.keys()


def test_redis_is_started_by_the_lab(tmp_path: Path) -> None:
    cache = "  cache: {image: redis:7}\n"
    found = scenario(drafted(tmp_path, f"{BUILT}    environment: ['REDIS_URL=redis://cache:6379/0']\n{cache}"))
    made = found["dependencies"]["cache"]
    assert made["settings"]["run"][0] == "redis-server"
    assert made["settings"]["address"] == "redis://{host}:{port}/0"
    assert made["env"] == "REDIS_URL"


def test_environment_files_anchors_extends_include_and_profiles_are_followed(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("LEVEL=debug\n", encoding="utf-8")
    (tmp_path / "web.env").write_text("FROM_FILE=1\nBOTH=file\n", encoding="utf-8")
    (tmp_path / "base.yaml").write_text(
        "services:\n  base:\n    environment: [BASE=1, BOTH=base]\n    expose: [8080]\n", encoding="utf-8"
    )
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "compose.yaml").write_text("services:\n  db: {image: postgres}\n", encoding="utf-8")
    text = """
x-env: &env {SHARED: 'yes', FLAG: yes, VERSION: 1.10}
include: [db/compose.yaml]
services:
  web:
    extends: {file: base.yaml, service: base}
    build: .
    env_file: [web.env, {path: none.env, required: false}]
    environment: {<<: *env, LOG: "${LEVEL}", BOTH: own, GONE: }
    depends_on: {db: {condition: service_healthy}, migrate: {condition: service_completed_successfully}}
    volumes: [data:/data]
    mem_limit: 512m
    deploy: {resources: {limits: {cpus: '0.50'}}}
  migrate: {image: migrate}
  debug: {image: debug, profiles: [debug]}
  proxy: {image: nginx}
"""
    found = drafted(tmp_path, text)
    settings = {"BASE": "1", "BOTH": "own", "FROM_FILE": "1", "SHARED": "yes", "FLAG": "yes", "VERSION": "1.10"}
    assert scenario(found)["settings"] == {**settings, "LOG": "debug"}
    assert list(scenario(found)["dependencies"]) == ["db"]
    notes = "\n".join(found.draft.notes)
    for said in ("migrate runs once", "volumes", "memory_limit_mb = 512", "cpus = 0.5", "profile starts them: debug"):
        assert said in notes
    assert "proxy" in notes


@pytest.mark.parametrize(
    ("check", "target", "within_s"),
    [
        ('test: ["CMD", "curl", "-f", "http://localhost:8080/healthz?a=1"]', "/healthz?a=1", None),
        ("test: curl --fail http://localhost/up || exit 1\n      interval: 1m30s\n      retries: 2", "/up", 180.0),
        ('test: ["CMD-SHELL", "wget -qO- 127.0.0.1:3000/live"]\n      start_period: 5s', "/live", 95.0),
        ('test: ["NONE"]', "/", None),
        ("disable: true", "/", None),
        ('test: ["CMD", "pg_isready"]', "/", None),
    ],
)
def test_a_health_check_is_the_request_of_ready(
    tmp_path: Path, check: str, target: str, within_s: float | None
) -> None:
    ready = scenario(drafted(tmp_path, f"{BUILT}    healthcheck:\n      {check}\n"))["ready"]
    assert ready["target"] == target
    assert ready.get("within_s") == within_s


def test_no_secret_is_written(tmp_path: Path) -> None:
    text = f"""{BUILT}    environment:
      API_TOKEN: hunter2hunter2
      UPSTREAM: https://user:hunter2hunter2@example.test/
      CACHE_URL: redis://:hunter2hunter2@cache:6379/0
  cache: {{image: redis, command: redis-server --requirepass hunter2hunter2}}
"""
    found = drafted(tmp_path, text)
    assert "hunter2" not in found.draft.toml("demo")
    assert "API_TOKEN" in "\n".join(found.draft.notes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("services:\n  a: {build: .}\n  b: {build: .}\n", "--compose-service with one of: a, b"),
        ("version: '3'\n", "no services"),
        ("- a\n", "not a Compose file"),
        ("services:\n  web: {build: ., extends: web}\n", "extends itself"),
        ("include: [compose.yaml]\nservices:\n  web: {build: .}\n", "includes itself"),
        ("services:\n  web: {build: ., extends: {service: bas}}\n  base: {}\n", "did you mean 'base'"),
        (f"{BUILT}    image: 'a:${{TAG:?give a tag}}'\n", "give a tag"),
        ("services:\n  web: 5\n", "not a mapping"),
        ("services: {web: {build: .}\n", "cannot be read"),
    ],
)
def test_what_cannot_be_drafted_is_refused_with_a_fix(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        drafted(tmp_path, text)
    assert said in str(caught.value)
    assert caught.value.fix


def test_a_drafted_scenario_runs(tmp_path: Path) -> None:
    text = f"""{BUILT}    environment: {{APP_PORT: 8123, GREETING: hello}}
    ports: ["8123:8123"]
    healthcheck: {{test: ["CMD", "curl", "-f", "http://localhost:8123/healthz"]}}
"""
    drafted(tmp_path, text)
    made = touchstone("new", "bench", "--from-compose", "compose.yaml", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    run = touchstone("run", "bench", "--phase", "verify", cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    named = touchstone("new", "other", "--from-compose", "compose.yaml", "--compose-service", "wbe", cwd=tmp_path)
    assert named.returncode != 0
    assert "did you mean 'web'" in named.stderr
    assert not (tmp_path / "other").exists()


def test_a_named_folder_takes_the_place_of_the_one_that_compose_builds(tmp_path: Path) -> None:
    (tmp_path / "moved").mkdir()
    (tmp_path / "moved" / "requirements.txt").touch()
    (tmp_path / "moved" / "serve.py").write_text(SERVER, encoding="utf-8")
    (tmp_path / "moved" / "Procfile").write_text("web: python serve.py", encoding="utf-8")
    for name, built in (("here", "."), ("away", "gone")):
        text = f"services:\n  web:\n    build: {built}\n    environment: {{APP_PORT: 8123}}\n    ports: [8123]\n"
        drafted(tmp_path, text)
        made = touchstone("new", name, "--from-compose", "compose.yaml", "--service", "moved", cwd=tmp_path)
        assert made.returncode == 0, made.stderr
        stack = tomllib.loads((tmp_path / name / "web" / "stack.toml").read_text(encoding="utf-8"))
        assert stack["variants"]["plain"]["run"][-1] == "serve.py"
        assert stack["variants"]["plain"]["env"] == {"APP_PORT": "{port}"}
        assert stack["extra_sources"]["app"].endswith("/moved")
    (tmp_path / "empty").mkdir()
    refused = touchstone("new", "none", "--from-compose", "compose.yaml", "--service", "empty", cwd=tmp_path)
    assert refused.returncode != 0
    assert not (tmp_path / "none").exists()
