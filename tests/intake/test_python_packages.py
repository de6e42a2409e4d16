"""What pip is told to install, by the file that a service names it in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.intake.services import lay
from touchstone.intake.service.python import draft
from touchstone.intake.service.python_packages import packages

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
    assert packages(tmp_path) == (["./app"], ())


@pytest.mark.parametrize(("lock", "last"), [({}, "pip install --quiet flask"), ({"uv.lock": ""}, "uv pip install")])
def test_a_server_that_is_not_among_the_requirements_is_added(tmp_path: Path, lock: dict[str, str], last: str) -> None:
    project = '[project]\ndependencies = ["flask"]\n'
    lay(tmp_path, {"pyproject.toml": project, "web.py": "app = Flask(__name__)\n"} | lock)
    drafted = draft(tmp_path)
    assert drafted.install is not None
    words = " ".join(drafted.install.commands[-1])
    assert last in words
    assert words.endswith(" gunicorn")
    assert "gunicorn is not among its requirements, and is added" in " ".join(drafted.guessed)
    lay(tmp_path, {"pyproject.toml": project.replace('"flask"', '"flask", "gunicorn"')})
    with_it = draft(tmp_path)
    assert not any("gunicorn is not" in guess for guess in with_it.guessed)
    assert with_it.install is not None
    assert len(with_it.install.commands) == (1 if lock else 2)
