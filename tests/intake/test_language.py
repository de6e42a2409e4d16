"""What is drafted is what is served: not a front end, not a tool of developers, and no language that is not drafted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import touchstone
from tests.intake.services import GO, MAIN_GO, drafted, lay

PAGE = {
    "package.json": '{"scripts": {"build": "webpack", "start": "react-scripts start"}, "dependencies": {"react": "1"}}'
}
DJANGO = {
    "requirements.txt": "django\ngunicorn\n",
    "manage.py": "",
    "shop/wsgi.py": "application = get_wsgi_application()\n",
}
EXPRESS = {"package.json": '{"scripts": {"start": "node web.js"}, "dependencies": {"express": "5"}}', "web.js": ""}
IN_POETRY = '[tool.poetry]\nname = "shop"\n[tool.poetry.dependencies]\ndjango = "5"\n'


@pytest.mark.parametrize(
    ("files", "language"),
    [
        (DJANGO | PAGE, "Python"),
        (
            {"pyproject.toml": IN_POETRY, "manage.py": "", "package.json": '{"devDependencies": {"esbuild": "1"}}'},
            "Python",
        ),
        ({"Pipfile": '[packages]\nflask = "*"\n', "app.py": "app = Flask(__name__)\n"} | PAGE, "Python"),
        # A server of its own, and Python for its developers' tools alone.
        (EXPRESS | {"requirements.txt": "pre-commit\n"}, "JavaScript"),
        (EXPRESS | {"pyproject.toml": "[tool.ruff]\n"}, "JavaScript"),
        # Both serve: what is deployed says which.
        (DJANGO | EXPRESS | {"Procfile": "web: gunicorn shop.wsgi\n"}, "Python"),
        (DJANGO | EXPRESS | {"Procfile": "web: npm start\n"}, "JavaScript"),
        (DJANGO | EXPRESS | {"Dockerfile": 'FROM node\nCMD ["node", "web.js"]\n'}, "JavaScript"),
        (DJANGO | EXPRESS | {"fly.toml": '[processes]\napp = "gunicorn shop.wsgi"\n'}, "Python"),
        (DJANGO | EXPRESS | {"render.yaml": "services: [{type: web, startCommand: npm start}]\n"}, "JavaScript"),
        (
            DJANGO | EXPRESS | {"deploy/shop.service": "[Service]\nExecStart=/srv/venv/bin/gunicorn shop.wsgi\n"},
            "Python",
        ),
        # A page that an image builds before, and a program of another language that it starts.
        (GO | {"main.go": MAIN_GO} | PAGE, "Go"),
        (
            GO | {"main.go": MAIN_GO} | DJANGO | {"Dockerfile": "FROM python\nCMD gunicorn shop.wsgi\n"},
            "Python",
        ),
        (
            GO
            | {"main.go": MAIN_GO, "Cargo.toml": '[package]\nname = "x"\n', "src/main.rs": "fn main() {}\n"}
            | {"Dockerfile": 'FROM rust AS a\nRUN cargo build --release\nFROM scratch\nCMD ["/x"]\n'},
            "Rust",
        ),
        # A script that cannot be read, in an image of Python; and scripts for developers alone.
        (
            DJANGO
            | {"package.json": '{"scripts": {"start": "npm-run-all watch webpack-dev-server"}}'}
            | {"Dockerfile": 'FROM node:1 AS page\nFROM docker.io/python:3-slim@sha256:0\nENTRYPOINT ["/bin/start"]\n'},
            "Python",
        ),
        (DJANGO | EXPRESS | {"Dockerfile": 'FROM node:22-alpine\nENTRYPOINT ["/start"]\n'}, "JavaScript"),
        (
            DJANGO
            | EXPRESS
            | {
                "compose.yaml": "services: {a: {build: {context: ., dockerfile: api/D}}}",
                "api/D": "FROM python\nCMD a\n",
            },
            "Python",
        ),
        ({"pom.xml": "<project/>", "build.gradle": "plugins { id 'application' }"}, "Java"),
        # nginx before it is not the service.
        (
            DJANGO | PAGE | {"Dockerfile": "FROM node\nRUN npm run build\nFROM nginx\nCMD nginx -g 'daemon off;'\n"},
            "Python",
        ),
    ],
)
def test_the_language_is_that_of_what_is_served(tmp_path: Path, files: dict[str, str], language: str) -> None:
    assert drafted(tmp_path, files).language == language


@pytest.mark.parametrize(
    ("files", "language"),
    [
        ({"Gemfile": "", "config.ru": ""} | PAGE, "Ruby"),
        ({"composer.json": "{}", "artisan": ""} | PAGE, "PHP"),
        ({"Shop.sln": "", "src/Shop/Shop.csproj": ""}, ".NET"),
        ({"src/Shop/Shop.csproj": ""} | PAGE, ".NET"),
        ({"mix.exs": ""} | PAGE, "Elixir"),
        ({"build.sbt": ""}, "Scala"),
        # Python has a server, and is not what is deployed.
        (DJANGO | {"Gemfile": "", "Procfile": "web: bundle exec puma -b unix:///tmp/s\n"}, "Ruby"),
        (DJANGO | {"Dockerfile": 'FROM x\nENTRYPOINT ["dotnet", "Shop.dll"]\n', "Shop.csproj": ""}, ".NET"),
    ],
)
def test_a_language_that_is_not_drafted_is_refused_by_its_name(
    tmp_path: Path, files: dict[str, str], language: str
) -> None:
    done = touchstone(lay(tmp_path, files), "new", "bench", "--service", ".")
    assert done.returncode == 2
    assert f"this service is written in {language}, of which no stack is drafted" in " ".join(done.stderr.split())
    assert not (tmp_path / "bench").exists()


def test_a_folder_above_the_service_names_it(tmp_path: Path) -> None:
    lay(tmp_path, {"backend/go.mod": "module x\n", "frontend/package.json": "{}", "docs/package.json": "{}"})
    done = touchstone(tmp_path, "new", "bench", "--service", ".")
    said = " ".join(done.stderr.split())
    assert done.returncode == 2
    assert "--service backend, --service frontend" in said
    assert "docs" not in said.partition("stack.toml")[0]


@pytest.mark.parametrize(("deployed", "marked"), [({}, True), ({"Procfile": "web: npm start\n"}, False)])
def test_where_several_may_be_served_and_nothing_says_which_it_is_marked(
    tmp_path: Path, deployed: dict[str, str], marked: bool
) -> None:
    drafted(tmp_path, DJANGO | EXPRESS | deployed)
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert ("# look: Python may be what is served as well: is Node.js what is deployed?" in text) is marked
