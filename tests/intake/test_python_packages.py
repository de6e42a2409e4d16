"""The packages that pip installs, by the file that names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.intake.services import lay
from touchstone.intake.service import python_packages
from touchstone.intake.service.deployed import Deployment, deployed
from touchstone.intake.service.python import draft

POETRY = """
[tool.poetry]
package-mode = false

[tool.poetry.dependencies]
python = "^3.11"
Flask = "^3.0"
uvicorn = {version = "~0.30.1", extras = ["standard"]}
httpx = "0.27"
redis = "*"
toml = {version = "1", optional = true}
shop = {git = "https://example.org/shop.git", tag = "v2"}

[build-system]
requires = ["poetry-core"]
"""


def packages(service: Path, server: str = "") -> tuple[list[str], list[str]]:
    """The packages that pip installs, and the files that it reads."""
    install = python_packages.packages(service, server).install
    return list(install.commands[-1][5:]), list(install.files)


def test_requirements_are_read_with_all_that_they_include(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "requirements/prod.txt": "-r base.txt\ngunicorn\n",
            "requirements/base.txt": "-c ../pins.txt\ndjango\n",
            "pins.txt": "django==5\n-r requirements/prod.txt\n",
        },
    )
    files = ["app/requirements/prod.txt", "app/requirements/base.txt", "app/pins.txt"]
    assert packages(tmp_path) == (["-r", "app/requirements/prod.txt"], files)


@pytest.mark.parametrize(
    ("lock", "first"),
    [("", "Flask>=3.0,<4"), ('[[package]]\nname = "flask"\nversion = "3.0.2"\n', "Flask==3.0.2")],
)
def test_what_poetry_names_is_put_in_pip_s_words(tmp_path: Path, lock: str, first: str) -> None:
    lay(tmp_path, {"pyproject.toml": POETRY} | ({"poetry.lock": lock} if lock else {}))
    words, _files = packages(tmp_path)
    assert words == [
        first,
        "uvicorn[standard]>=0.30.1,<0.31",
        "httpx==0.27",
        "redis",
        "shop @ git+https://example.org/shop.git@v2",
    ]


@pytest.mark.parametrize(
    ("poetry", "pip"),
    [
        ("^1.2.3", ">=1.2.3,<2"),
        ("^0.115", ">=0.115,<0.116"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("^0", ">=0,<1"),
        ("~1", ">=1,<2"),
        ("~1.4.2", ">=1.4.2,<1.5"),
        ("~=1.4", "~=1.4"),
        (">=1,<3", ">=1,<3"),
        ("^1 || ^2", ""),
    ],
)
def test_bounds_of_poetry(tmp_path: Path, poetry: str, pip: str) -> None:
    lay(tmp_path, {"pyproject.toml": f'[tool.poetry.dependencies]\na = "{poetry}"\n'})
    assert packages(tmp_path)[0] == [f"a{pip}"]


def test_what_pipenv_locked_is_what_is_installed(tmp_path: Path) -> None:
    locked = '{"default": {"flask": {"version": "==3.1.0"}, "click": {"version": "==8"}}}'
    lay(tmp_path, {"Pipfile": '[packages]\nflask = "*"\n[dev-packages]\npytest = "*"\n', "Pipfile.lock": locked})
    assert packages(tmp_path) == (["flask==3.1.0"], ["app/Pipfile", "app/Pipfile.lock"])


def test_a_project_whose_modules_lie_below_src_is_installed_whole(tmp_path: Path) -> None:
    project = '[project]\ndependencies = ["falcon"]\n[build-system]\nrequires = ["hatchling"]\n'
    lay(tmp_path, {"pyproject.toml": project})
    assert packages(tmp_path) == (["falcon"], ["app/pyproject.toml"])
    lay(tmp_path, {"src/shop/__init__.py": ""})
    assert packages(tmp_path) == (["./app"], [])


@pytest.mark.parametrize(
    ("said", "lowest"),
    [
        ('[project]\ndependencies = []\nrequires-python = ">=3.12,<4"\n', ">=3.12"),
        ('[project]\ndependencies = []\nrequires-python = "~=3.11"\n', ">=3.11"),
        ("[project]\ndependencies = []\n", ">=3.10"),
        ('[tool.poetry.dependencies]\npython = "^3.13"\n', ">=3.13"),
    ],
)
def test_the_python_that_it_asks_for_is_needed(tmp_path: Path, said: str, lowest: str) -> None:
    assert draft(lay(tmp_path, {"pyproject.toml": said}), Deployment()).needs == {"python": lowest}


@pytest.mark.parametrize(("lock", "last"), [({}, "pip install --quiet flask"), ({"uv.lock": ""}, "uv pip install")])
def test_a_server_that_is_not_among_the_requirements_is_added(tmp_path: Path, lock: dict[str, str], last: str) -> None:
    project = '[project]\ndependencies = ["flask"]\n'
    lay(tmp_path, {"pyproject.toml": project, "web.py": "app = Flask(__name__)\n"} | lock)
    drafted = draft(tmp_path, deployed(tmp_path))
    assert drafted.install is not None
    words = " ".join(drafted.install.commands[-1])
    assert last in words
    assert words.endswith(" gunicorn")
    assert "gunicorn is not among its requirements, and is added" in " ".join(drafted.guessed)
    lay(tmp_path, {"pyproject.toml": project.replace('"flask"', '"flask", "gunicorn"')})
    with_it = draft(tmp_path, deployed(tmp_path))
    assert not any("gunicorn is not" in guess for guess in with_it.guessed)
    assert with_it.install is not None
    assert len(with_it.install.commands) == (1 if lock else 2)


EXTRA = """[project]
dependencies = ["flask"]
[project.optional-dependencies]
dev = ["gunicorn<20"]
prod = ["gunicorn>=23"]
[dependency-groups]
test = ["uvicorn"]
"""
GROUP = """[project]
dependencies = ["flask"]
[dependency-groups]
web = [{ include-group = "server" }, "rich"]
server = ["gunicorn>=23", { include-group = "web" }]
"""
POETRY_GROUP = """[tool.poetry.dependencies]
flask = "^3"
[tool.poetry.group.prod.dependencies]
gunicorn = "^23"
"""
POETRY_EXTRA = """[tool.poetry.dependencies]
flask = "^3"
gunicorn = {version = "^23", optional = true}
[tool.poetry.extras]
prod = ["gunicorn"]
"""
SRC = {"src/shop/__init__.py": ""}
BUILT = '[build-system]\nrequires = ["hatchling"]\n'


@pytest.mark.parametrize(
    ("files", "installed"),
    [
        ({"pyproject.toml": EXTRA}, "flask gunicorn>=23"),
        ({"pyproject.toml": EXTRA + BUILT} | SRC, "./app[prod]"),
        ({"pyproject.toml": GROUP}, "flask gunicorn>=23 rich"),
        ({"pyproject.toml": GROUP + BUILT} | SRC, "./app gunicorn>=23 rich"),
        ({"pyproject.toml": POETRY_GROUP}, "flask>=3,<4 gunicorn>=23,<24"),
        ({"pyproject.toml": POETRY_EXTRA}, "flask>=3,<4 gunicorn>=23,<24"),
    ],
)
def test_the_extra_or_the_group_that_has_its_server_is_installed(
    tmp_path: Path, files: dict[str, str], installed: str
) -> None:
    lay(tmp_path, files | {"Procfile": "web: gunicorn web:app\n"})
    drafted = draft(tmp_path, deployed(tmp_path))
    assert drafted.install is not None
    assert " ".join(drafted.install.commands[-1][5:]) == installed
    assert drafted.guessed[-1].startswith("gunicorn is in its ")


@pytest.mark.parametrize(("project", "option"), [(EXTRA, "--extra=prod"), (GROUP, "--group=web")])
def test_uv_is_told_the_extra_or_the_group_that_has_its_server(tmp_path: Path, project: str, option: str) -> None:
    lay(tmp_path, {"pyproject.toml": project, "uv.lock": "", "Procfile": "web: gunicorn web:app\n"})
    install = python_packages.packages(tmp_path, "gunicorn").install
    assert [" ".join(words) for words in install.commands] == [
        f"uv sync --quiet --frozen --no-dev {option} --project app"
    ]


def test_a_server_that_a_procfile_names_and_nothing_brings_is_added(tmp_path: Path) -> None:
    lay(tmp_path, {"requirements.txt": "flask\n", "Procfile": "web: python -m gunicorn web:app\n"})
    drafted = draft(tmp_path, deployed(tmp_path))
    assert drafted.install is not None
    assert drafted.install.commands[-1][5:] == ["-r", "app/requirements.txt", "gunicorn"]
    assert "gunicorn is not among its requirements, and is added" in drafted.guessed[-1]


LOCKED = """
[[package]]
name = "fastapi"
version = "0.115.1"
[package.dependencies]
starlette = ">=0.4"
exceptiongroup = {version = "*", markers = "python_version < \'3\'"}

[[package]]
name = "starlette"
version = "0.46.0"

[[package]]
name = "uvicorn"
version = "0.34.0"
[package.dependencies]
httptools = {version = "*", optional = true, markers = "extra == \'standard\'"}
watchfiles = {version = "*", optional = true, markers = "extra == \'watch\'"}

[[package]]
name = "httptools"
version = "0.6.4"

[[package]]
name = "watchfiles"
version = "1.0"

[[package]]
name = "exceptiongroup"
version = "1.3"

[[package]]
name = "pytest"
version = "8.3"

[[package]]
name = "shared"
version = "1.0"
[package.source]
type = "directory"
url = "../shared"
"""
PINS = "fastapi==0.115.1 uvicorn[standard]==0.34.0 starlette==0.46.0 httptools==0.6.4"
POETRY_2 = """[project]
dependencies = ["fastapi (>=0.115)", "uvicorn[standard]"]
[tool.poetry.group.dev.dependencies]
pytest = "*"
[build-system]
requires = ["poetry-core"]
"""
POETRY_1 = """[tool.poetry.dependencies]
fastapi = "^0.115"
uvicorn = {version = "*", extras = ["standard"]}
"""


@pytest.mark.parametrize(
    ("files", "installed"),
    [
        ({"pyproject.toml": POETRY_2}, PINS),
        ({"pyproject.toml": POETRY_2} | SRC, f"./app {PINS}"),
        ({"pyproject.toml": POETRY_1}, PINS),
    ],
)
def test_all_that_its_packages_lead_to_is_installed_as_poetry_locked_it(
    tmp_path: Path, files: dict[str, str], installed: str
) -> None:
    lay(tmp_path, files | {"poetry.lock": LOCKED})
    words, read = packages(tmp_path, "uvicorn")
    assert " ".join(words) == installed
    assert read == ([] if "./app" in words else ["app/pyproject.toml", "app/poetry.lock"])
