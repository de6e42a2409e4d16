"""The command that a service is deployed with, what is done before it, and what its image sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.intake.services import GO, MAIN_GO, drafted, lay
from touchstone.intake.service.deployed import deployed

GUNICORN = ["gunicorn", "web:app"]


@pytest.mark.parametrize(
    ("files", "before"),
    [
        ({"Procfile": "release: flask db upgrade\nweb: gunicorn web:app\n"}, ["flask db upgrade"]),
        ({"Procfile": "web: flask db upgrade && ./warm; gunicorn web:app\n"}, ["flask db upgrade", "./warm"]),
        ({"Dockerfile": "CMD flask db upgrade && exec gunicorn web:app\n"}, ["flask db upgrade"]),
        ({"Dockerfile": 'CMD ["sh", "-c", "./migrate && gunicorn web:app"]\n'}, ["./migrate"]),
        ({"Dockerfile": 'ENTRYPOINT ["./entrypoint.sh"]\nCMD ["gunicorn", "web:app"]\n'}, ["./entrypoint.sh"]),
        ({"Dockerfile": 'ENTRYPOINT ["tini", "--", "/e.sh"]\nCMD gunicorn web:app\n'}, ["tini -- /e.sh"]),
        ({"Procfile": "web: uv run --no-dev --extra prod gunicorn web:app\n"}, []),
        ({"Procfile": "web: gunicorn -w $(nproc) a\n", "Dockerfile": 'CMD ["gunicorn", "web:app"]\n'}, []),
    ],
)
def test_the_last_command_is_what_serves_and_the_others_are_done_before_it(
    tmp_path: Path, files: dict[str, str], before: list[str]
) -> None:
    found = deployed(lay(tmp_path, files)).run
    assert found is not None
    assert (found.words, list(found.before)) == (GUNICORN, before)


def test_what_is_done_before_it_is_marked(tmp_path: Path) -> None:
    line = "release: python manage.py migrate\nweb: python -m gunicorn shop.wsgi\n"
    drafted(tmp_path, {"requirements.txt": "gunicorn\n", "Procfile": line})
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert "# look: Procfile does before it: python manage.py migrate\n" in text


def test_a_script_that_an_image_starts_is_marked(tmp_path: Path) -> None:
    files = {"requirements.txt": "flask\n", "app.py": "app = Flask(__name__)\n"}
    drafted(tmp_path, files | {"Dockerfile": 'ENV MODE=fast\nENTRYPOINT ["./entrypoint.sh"]\n'})
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert "# look: Dockerfile starts it by `./entrypoint.sh`: see what that does\n" in text
    assert 'env = { MODE = "fast" }' in text


@pytest.mark.parametrize(
    ("start", "script", "before"),
    [
        ('ENTRYPOINT ["/app/e.sh"]\nCMD ["gunicorn", "web:app"]', 'set -e\n./warm\nexec "$@"', ["./warm"]),
        ('ENTRYPOINT ["/e.sh"]\nCMD gunicorn web:app', "# all\n\nexec $@", []),
        ('ENTRYPOINT ["tini", "--", "/e.sh"]\nCMD ["web:app"]', 'gosu www gunicorn "$@"', []),
        ('CMD ["./e.sh"]', "flask \\\n db upgrade\nexec gunicorn web:app", ["flask   db upgrade"]),
        ('CMD ["bash", "e.sh"]', "a && exec gunicorn web:app", ["a"]),
        ('ENTRYPOINT ["/of-the-image.sh"]\nCMD ["./e.sh"]', "./warm\ngunicorn web:app", ["/of-the-image.sh", "./warm"]),
        ("CMD sh ./e.sh", "if x; then\n y\nfi\ngunicorn web:app", ["more than single commands: see what that does"]),
    ],
)
def test_a_script_is_followed_to_the_command_that_serves(
    tmp_path: Path, start: str, script: str, before: list[str]
) -> None:
    found = deployed(lay(tmp_path, {"Dockerfile": f"FROM x\n{start}\n", "e.sh": f"#!/bin/sh\n{script}\n"})).run
    assert found is not None
    assert (found.words, found.source, list(found.before)) == (GUNICORN, "e.sh", before)


@pytest.mark.parametrize("script", ["", "exec gunicorn $(cat args)", "if x; then\n gunicorn web:app\nfi", "./e.sh"])
def test_a_script_that_starts_nothing_by_a_plain_command_stays_what_starts_the_service(
    tmp_path: Path, script: str
) -> None:
    found = deployed(lay(tmp_path, {"Procfile": "web: ./e.sh\n", "e.sh": script})).run
    assert found is not None
    assert (found.words, found.source) == (["./e.sh"], "Procfile" if script != "./e.sh" else "e.sh")


def test_an_image_that_starts_nothing_tells_nothing(tmp_path: Path) -> None:
    assert deployed(lay(tmp_path, {"Dockerfile": "FROM x\nENV A=b\n"})).run is None


def test_what_a_script_exports_is_set(tmp_path: Path) -> None:
    script = 'export MODE=fast PORT=80\nexport "KEY=$SECRET"\nexec gunicorn -w ${WORKERS:-2} web:app\n'
    found = deployed(lay(tmp_path, {"Procfile": "web: ./e.sh\n", "e.sh": script})).run
    assert found is not None
    assert (found.words, found.env) == (["gunicorn", "-w", "2", "web:app"], {"MODE": "fast"})


@pytest.mark.parametrize(
    ("instructions", "env"),
    [
        ('ENV A=b C="d e" \\\n  F=g\nENV H i j\n', {"A": "b", "C": "d e", "F": "g", "H": "i j"}),
        ("ENV PORT=80 HOST=0.0.0.0 PATH=/v/bin:$PATH PYTHONPATH=/srv PIP_NO_CACHE_DIR=1 A=$B HOME=/srv\n", {}),
        ("ENV A=one\nENV A=two\nENV B=it's\n", {"A": "two"}),
        ("FROM x AS base\nENV A=b\nFROM base AS made\nENV C=d\nFROM base\nENV E=f\n", {"A": "b", "E": "f"}),
    ],
)
def test_what_an_image_sets_is_set(tmp_path: Path, instructions: str, env: dict[str, str]) -> None:
    files = {"requirements.txt": "gunicorn\n", "Dockerfile": f"FROM python\n{instructions}CMD gunicorn web:app\n"}
    assert drafted(tmp_path, files).variants["plain"].env == env


def test_what_an_image_sets_is_not_there_for_the_command_of_a_procfile(tmp_path: Path) -> None:
    files = {"Dockerfile": "ENV A=b\nCMD gunicorn web:app\n", "Procfile": "web: gunicorn web:app\n"}
    found = deployed(lay(tmp_path, files)).run
    assert found is not None
    assert (found.source, found.env) == ("Procfile", {})


def test_what_an_image_sets_is_set_for_a_compiled_program_and_through_a_script_of_node(tmp_path: Path) -> None:
    image = {"Dockerfile": 'FROM x\nENV MODE=fast\nCMD ["./server"]\n'}
    assert drafted(tmp_path / "go", GO | {"main.go": MAIN_GO} | image).variants["plain"].env == {"MODE": "fast"}
    node = {
        "package.json": '{"scripts": {"start": "LEVEL=3 node web.js"}}',
        "Dockerfile": 'FROM node\nENV MODE=fast\nCMD ["npm", "start"]\n',
    }
    env = {"NODE_ENV": "production", "MODE": "fast", "LEVEL": "3"}
    assert drafted(tmp_path / "node", node).variants["plain"].env == env
