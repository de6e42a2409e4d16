"""Options that exclude each other are not added up: a socket gives way to the lab's address, and that is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import touchstone
from tests.intake.services import drafted, lay

SOCKET, TLS = "connects by TCP", "connects without TLS"
TCP = "--host {host} --port {port}"


@pytest.mark.parametrize(
    ("line", "run", "dropped"),
    [
        ("uvicorn app:app --uds ./45/app.sock", f"uvicorn app:app {TCP}", ["--uds ./45/app.sock"]),
        ("uvicorn --uds=/run/a.sock app:app --workers 2", f"uvicorn app:app --workers 2 {TCP}", ["--uds=/run/a.sock"]),
        ("uvicorn app:app --fd 3", f"uvicorn app:app {TCP}", ["--fd 3"]),
        ("python -m uvicorn app:app --fd=0 --host 1.2.3.4", f"uvicorn app:app {TCP}", ["--fd=0"]),
        (
            "uvicorn app:app --port 443 --ssl-keyfile k.pem --ssl-certfile=c.pem",
            f"uvicorn app:app {TCP}",
            ["--ssl-keyfile k.pem", "--ssl-certfile=c.pem"],
        ),
        (
            "gunicorn --bind unix:/run/a.sock app:app",
            "gunicorn app:app --bind {host}:{port}",
            ["--bind unix:/run/a.sock"],
        ),
        ("gunicorn -bunix:a.sock -w 2 app:app", "gunicorn -w 2 app:app --bind {host}:{port}", ["-bunix:a.sock"]),
        ("gunicorn -b fd://3 app:app", "gunicorn app:app --bind {host}:{port}", ["-b fd://3"]),
        ("gunicorn -b 0.0.0.0:80 -b unix:a -b :81 app:app", "gunicorn --bind {host}:{port} app:app", ["-b unix:a"]),
        (
            "gunicorn --bind api.example:80 --certfile c app:app",
            "gunicorn --bind {host}:{port} app:app",
            ["--certfile c"],
        ),
        (
            "hypercorn app:app -b unix:/a --quic-bind :1",
            "hypercorn app:app --bind {host}:{port}",
            ["-b unix:/a", "--quic-bind :1"],
        ),
        (
            "waitress-serve --unix-socket=/a.sock app:app",
            "waitress app:app --listen={host}:{port}",
            ["--unix-socket=/a.sock"],
        ),
        ("waitress-serve --host=0.0.0.0 app:app", "waitress --listen={host}:{port} app:app", []),
        ("waitress-serve --listen=*:80 --listen=[::]:81 app:app", "waitress --listen={host}:{port} app:app", []),
        ("daphne -u /a.sock --fd 3 app:app", "daphne app:app -b {host} -p {port}", ["-u /a.sock", "--fd 3"]),
        ("daphne -e tcp:port=80 app:app", "daphne app:app -b {host} -p {port}", ["-e tcp:port=80"]),
        ("granian --interface asgi --uds a.sock app:app", f"granian --interface asgi app:app {TCP}", ["--uds a.sock"]),
        ("flask --app web run --host unix:///a.sock", f"flask --app web run {TCP}", ["--host unix:///a.sock"]),
        ("flask run -h 0.0.0.0 -p 80 --cert adhoc", f"flask run {TCP}", ["--cert adhoc"]),
        ("fastapi run main.py --port 80", f"fastapi run main.py {TCP}", []),
    ],
)
def test_a_socket_is_dropped_and_said(tmp_path: Path, line: str, run: str, dropped: list[str]) -> None:
    plain = drafted(tmp_path, {"requirements.txt": "x\n", "Procfile": f"web: {line}\n"}).variants["plain"]
    assert " ".join(plain.run or []) == f".venv/bin/python -m {run}"
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert [line for line in text.splitlines() if ": dropped, because touchstone" in line] == [
        f"# look: Procfile has `{one}`: dropped, because touchstone {TLS if 'ssl' in one or 'cert' in one else SOCKET}"
        for one in dropped
    ]


@pytest.mark.parametrize(
    ("files", "run", "run_in"),
    [
        ({"Procfile": "web: cd shop && gunicorn web:app\n"}, "gunicorn web:app --bind {host}:{port}", "app/shop"),
        (
            {"Dockerfile": 'CMD ["./e.sh"]\n', "e.sh": "cd shop\nexec gunicorn web:app\n"},
            "gunicorn web:app --bind {host}:{port}",
            "app/shop",
        ),
        (
            {"Dockerfile": "ENV P=80 W=3\nCMD gunicorn -w $W -b :$P web:app\n"},
            "gunicorn -w 3 --bind {host}:{port} web:app",
            "app",
        ),
        (
            {"compose.yaml": "services: {a: {build: ., command: [gunicorn, 'web:app']}}\n"},
            "gunicorn web:app --bind {host}:{port}",
            "app",
        ),
        (
            {"app.yaml": "runtime: python\nentrypoint: gunicorn web:app\n"},
            "gunicorn web:app --bind {host}:{port}",
            "app",
        ),
        (
            {"railway.json": '{"deploy": {"startCommand": "gunicorn web:app"}}'},
            "gunicorn web:app --bind {host}:{port}",
            "app",
        ),
        (
            {"heroku.yml": "run: {web: {command: ['gunicorn', 'web:app']}}"},
            "gunicorn web:app --bind {host}:{port}",
            "app",
        ),
    ],
)
def test_a_command_is_found_where_it_is_deployed(tmp_path: Path, files: dict[str, str], run: str, run_in: str) -> None:
    plain = drafted(tmp_path, {"requirements.txt": "gunicorn\n", "shop/web.py": "", **files}).variants["plain"]
    assert (" ".join(plain.run or []), plain.run_in) == (f".venv/bin/python -m {run}", run_in)


def test_a_variable_that_nothing_gives_is_marked(tmp_path: Path) -> None:
    lay(tmp_path, {"requirements.txt": "gunicorn\n", "Procfile": "web: gunicorn -w $WORKERS web:app\n"})
    assert touchstone(tmp_path, "new", "bench", "--service", ".").returncode == 0
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert "# look: its command has WORKERS, which nothing gives: write the values\n" in text


def test_django_is_served_by_its_own_server_where_it_has_no_application(tmp_path: Path) -> None:
    run = drafted(tmp_path, {"requirements.txt": "django\n", "manage.py": ""}).variants["plain"].run
    assert run == [".venv/bin/python", "manage.py", "runserver", "--noreload", "{host}:{port}"]
