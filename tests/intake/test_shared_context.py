"""A service in a repository whose image is built of the repository as a whole."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.test_commands import touchstone
from tests.intake.services import MAIN_GO, lay
from touchstone.intake.compose.drafting import draft_from_compose
from touchstone.intake.service.deployed import deployed

NODE = '{"name": "api", "dependencies": {"express": "4"}}'
NODE_IMAGE = "FROM node:22\nWORKDIR /app\n"
COPIED = "COPY services/api/package.json .\nCOPY services/api .\n"
WHOLE = "COPY . .\nWORKDIR /app/services/api\n"
API = {"services/api/package.json": NODE, "services/api/src/main.js": "", "services/web/package.json": NODE}
STARTED = 'EXPOSE 3100\nCMD ["node", "src/main.js"]\n'


def repository(folder: Path, files: Mapping[str, str]) -> Path:
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    return lay(folder, files)


@pytest.mark.parametrize(
    ("dockerfile", "content"),
    [
        ("services/api/Dockerfile", COPIED + STARTED),
        ("services/api/Dockerfile", WHOLE + STARTED),
        ("services/api/Dockerfile", COPIED.replace("services", "./services") + STARTED),
        ("services/api/Dockerfile", f"{COPIED}EXPOSE 3100\nCMD node /app/src/main.js\n"),
        ("services/api/docker/Dockerfile", COPIED + STARTED),
        ("services/api/Dockerfile", "COPY . .\nEXPOSE 3100\nCMD node services/api/src/main.js\n"),
        (
            "services/api/Dockerfile",
            f"COPY services services\nFROM node:22-slim\nCOPY --from=0 /app/services/api /srv\nWORKDIR /srv\n{STARTED}",
        ),
        ("Dockerfile", COPIED + STARTED),
        ("docker/api.Dockerfile", COPIED + STARTED),
        ("deploy/Dockerfile.api", f"COPY services/api/package.json services/api/\n{WHOLE}{STARTED}"),
    ],
)
def test_the_paths_of_an_image_are_seen_from_the_service(tmp_path: Path, dockerfile: str, content: str) -> None:
    other = NODE_IMAGE + COPIED.replace("api", "web") + 'EXPOSE 9\nCMD ["node", "web.js"]\n'
    top = repository(tmp_path, {**API, "docker/a-web.Dockerfile": other, dockerfile: NODE_IMAGE + content})
    found = deployed(top / "services/api")
    assert found.run is not None
    assert " ".join(found.run.words) == "node src/main.js"
    assert [port.number for port in found.ports] == [3100]


def test_a_dockerfile_above_that_copies_other_folders_is_not_the_services(tmp_path: Path) -> None:
    other = NODE_IMAGE + COPIED.replace("api", "web") + STARTED
    top = repository(tmp_path, {**API, "Dockerfile": other, "docker/Dockerfile": f"{NODE_IMAGE}COPY . .\n{STARTED}"})
    assert deployed(top / "services/api").image is None


def test_a_dockerfile_above_the_repository_is_not_read(tmp_path: Path) -> None:
    lay(tmp_path, {"Dockerfile": NODE_IMAGE + COPIED.replace("services", "top/services") + STARTED})
    assert deployed(repository(tmp_path / "top", API) / "services/api").image is None


@pytest.mark.parametrize(
    ("dockerfile", "content", "folder", "run"),
    [
        ("services/api/Dockerfile", WHOLE + STARTED, "services/api", "node src/main.js"),
        ("docker/api.Dockerfile", COPIED + STARTED, "services/api", "node src/main.js"),
        ("docker/api.Dockerfile", WHOLE + STARTED, "services/api", "node src/main.js"),
        ("docker/Dockerfile", "COPY . .\nCMD node services/api/src/main.js\n", "services/api", "node src/main.js"),
        (
            "docker/Dockerfile",
            "COPY services/api/ .\nCMD node --watch src/main.js\n",
            "services/api",
            "node --watch src/main.js",
        ),
    ],
)
def test_compose_builds_a_service_of_the_whole_repository(
    tmp_path: Path, dockerfile: str, content: str, folder: str, run: str
) -> None:
    compose = (
        f"services:\n  web:\n    build: {{context: ., dockerfile: services/web/Dockerfile}}\n"
        f"  api:\n    build:\n      context: .\n      dockerfile: {dockerfile}\n    ports: ['80:3100']\n"
    )
    files = {**API, "services/web/Dockerfile": NODE_IMAGE, "compose.yaml": compose, dockerfile: NODE_IMAGE + content}
    top = repository(tmp_path, files)
    found = draft_from_compose(top / "compose.yaml", "api")
    assert found.folder == top / folder
    assert found.stack is not None
    assert " ".join(found.stack.run) == run
    assert found.stack.port == 3100


def test_compose_names_the_program_of_a_module_of_several(tmp_path: Path) -> None:
    build = 'FROM golang:1.24\nCOPY . .\nRUN go build -o /bin/it ./cmd/{0}\nCMD ["/bin/it"]\n'
    compose = "services:\n" + "".join(
        f"  {name}:\n    build: {{context: ., dockerfile: cmd/{name}/Dockerfile}}\n" for name in ("admin", "shop")
    )
    files = {"go.mod": "module x\n", "compose.yaml": compose}
    for name in ("admin", "shop"):
        files |= {f"cmd/{name}/main.go": MAIN_GO, f"cmd/{name}/Dockerfile": build.format(name)}
    top = repository(tmp_path, files)
    for name in ("admin", "shop"):
        found = draft_from_compose(top / "compose.yaml", name)
        assert found.folder == top
        assert found.stack is not None
        assert found.stack.build[0][-1] == f"./cmd/{name}"


def test_a_draft_of_a_service_names_the_dockerfile_above(tmp_path: Path) -> None:
    top = repository(tmp_path, {**API, "docker/api.Dockerfile": NODE_IMAGE + COPIED + STARTED})
    done = touchstone(top, "new", "bench", "--service", "services/api")
    assert done.returncode == 0, done.stderr
    text = (top / "bench/service/stack.toml").read_text()
    assert 'run = ["node", "src/main.js"]' in text
