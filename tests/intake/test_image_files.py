"""A path of an image is found in the repository, through the instructions that copy it there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.intake.services import lay
from touchstone.intake.service.deployed import deployed

BUILT = "FROM node:22 AS build\nWORKDIR /src\nCOPY . .\nRUN npm run build\nFROM node:22-slim\nWORKDIR /srv\n"
NODE = 'CMD ["node", "server.js"]\n'


@pytest.mark.parametrize(
    ("dockerfile", "words"),
    [
        # A build leaves `dist`, which the image has at its top.
        (f"FROM node\nWORKDIR /app\nCOPY package*.json ./\nCOPY dist/ ./\n{NODE}", "node dist/server.js"),
        (f"FROM node\nWORKDIR /app\nCOPY dist .\n{NODE}", "node dist/server.js"),
        (f"{BUILT}COPY --from=build --chown=node:node /src/dist .\n{NODE}", "node dist/server.js"),
        (f"{BUILT}COPY --from=0 /src/dist ./\n{NODE}", "node dist/server.js"),
        (
            f"{BUILT}ENV OUT=/opt/out\nCOPY --from=build /src/dist $OUT\nCMD node /opt/out/main.js\n",
            "node dist/main.js",
        ),
        (f'{BUILT}COPY ["dist", "/srv/"]\n{NODE}', "node dist/server.js"),
        (f"{BUILT}COPY --from=build /src/dist dist\nCMD node dist/server.js\n", "node dist/server.js"),
        # A folder is named by a variable, and that by another one.
        (
            f"FROM node\nENV TOP=/srv\nENV HERE=$TOP/app\nWORKDIR $HERE\nCOPY dist /srv/app\n{NODE}",
            "node dist/server.js",
        ),
        (f"FROM node\nARG TOP=/app\nWORKDIR ${{TOP}}/in\nCOPY dist /app/in/\n{NODE}", "node dist/server.js"),
        (f"FROM node\nWORKDIR /${{TOP:-app}}\nCOPY dist /app\n{NODE}", "node dist/server.js"),
        # A stage that begins with another one has its files.
        (f"{BUILT.replace('FROM node:22-slim', 'FROM build')}{NODE.replace('server', '/src/lib/a')}", "node lib/a.js"),
        # Files that exist go before those that a build may leave; of several, the one that is copied last counts.
        (f"FROM node\nWORKDIR /a\nCOPY . .\nCOPY dist ./\n{NODE.replace('server', 'there')}", "node there.js"),
        (f"FROM node\nWORKDIR /a\nCOPY one two/ ./\n{NODE.replace('server', 'both')}", "node two/both.js"),
        # Settings are found, too.
        ("FROM x\nCOPY deploy/app.yml /etc/app.yml\nCMD run --config=/etc/app.yml\n", "run --config=deploy/app.yml"),
        # What another image brings is not of the repository.
        (f"FROM node\nWORKDIR /a\nCOPY --from=alpine:3 /etc /a\n{NODE}", "node server.js"),
        (f"FROM node\nWORKDIR /a\nADD https://example.com/server.js /a/\n{NODE}", "node server.js"),
    ],
)
def test_a_command_names_the_files_of_the_repository(tmp_path: Path, dockerfile: str, words: str) -> None:
    laid = {"there.js": "", "one/both.js": "", "two/both.js": "", "deploy/app.yml": "", "Dockerfile": dockerfile}
    found = deployed(lay(tmp_path, laid)).run
    assert found is not None
    assert " ".join(found.words) == words


@pytest.mark.parametrize(
    ("copied", "words", "folder"),
    [
        ("COPY ./app /code", "uvicorn main:app", "app"),
        ("COPY app .\nCOPY gunicorn.py .", "gunicorn -c gunicorn.py main:app", "app"),
        ("COPY . .", "uvicorn app.main:app", ""),
        ("COPY src/ ./", "python -m shop", "src"),
        ("COPY . /code/", "uvicorn other:app", ""),
    ],
)
def test_an_application_is_started_where_its_modules_lie(tmp_path: Path, copied: str, words: str, folder: str) -> None:
    laid = {"app/main.py": "", "src/shop/__init__.py": "", "gunicorn.py": ""}
    laid["Dockerfile"] = f"FROM python\nWORKDIR /code\n{copied}\nCMD {words}\n"
    found = deployed(lay(tmp_path, laid)).run
    assert found is not None
    assert (" ".join(found.words), found.folder) == (words.replace("-c gunicorn", "-c ../gunicorn"), folder)
