"""The package itself is installed, and not only its dependencies, wherever its tool can build it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.intake.services import lay
from touchstone.failure import UsageError
from touchstone.intake.service.deployed import deployed
from touchstone.intake.service.python import draft

BUILT = '[build-system]\nrequires = ["{0}"]\nbuild-backend = "{0}.build"\n'
BUILT += '[project]\nname = "my-shop"\ndependencies = ["flask"]\n'


POETRY = (
    '[build-system]\nrequires = ["poetry-core"]\nbuild-backend = "poetry.core.masonry.api"\n[tool.poetry]\nname = "a"\n'
)


@pytest.mark.parametrize(
    ("files", "itself"),
    [
        ({"pyproject.toml": BUILT.format("hatchling"), "my_shop/__init__.py": ""}, True),
        ({"pyproject.toml": BUILT.format("hatchling"), "src/my_shop/__init__.py": ""}, True),
        ({"pyproject.toml": BUILT.format("hatchling"), "other/__init__.py": ""}, False),
        ({"pyproject.toml": BUILT.format("setuptools"), "my_shop/__init__.py": ""}, True),
        # Setuptools refuses several packages at the top, unless they are named.
        ({"pyproject.toml": BUILT.format("setuptools"), "a/__init__.py": "", "b/__init__.py": ""}, False),
        (
            {"pyproject.toml": BUILT.format("setuptools"), "a/x.py": "", "b/x.py": "", "setup.py": "setup(name='a')"},
            True,
        ),
        (
            {
                "pyproject.toml": BUILT.format("setuptools") + '[tool.setuptools]\npackages = ["a"]\n',
                "a/x.py": "",
                "b/x.py": "",
            },
            True,
        ),
        ({"setup.py": "from setuptools import setup\nsetup(name='shop')\n"}, True),
        ({"setup.cfg": "[metadata]\nname = shop\n"}, True),
        # What is deployed installs requirements alone, or the package as well.
        ({"requirements.txt": "flask\n", "setup.py": "setup(name='shop')"}, True),
        (
            {
                "requirements.txt": "flask\n",
                "setup.py": "setup()",
                "Dockerfile": "RUN pip install -r requirements.txt\n",
            },
            False,
        ),
        (
            {
                "requirements.txt": "flask\n",
                "setup.py": "setup()",
                "Dockerfile": "RUN pip install -r a && pip install .\n",
            },
            True,
        ),
        ({"requirements.txt": "flask\n", "setup.py": "setup()", "Dockerfile": 'RUN pip install -e ".[x]"\n'}, True),
        (
            {"pyproject.toml": POETRY + "package-mode = false\n"},
            False,
        ),
    ],
)
def test_the_package_itself_is_installed_where_it_can_be(tmp_path: Path, files: dict[str, str], itself: bool) -> None:
    lay(tmp_path, {"app.py": "", **files})
    installed = [word for words in draft(tmp_path, deployed(tmp_path)).install.commands for word in words]  # type: ignore[union-attr]
    assert ("./app" in installed) is itself


def test_a_program_of_the_package_is_started_from_its_environment(tmp_path: Path) -> None:
    scripts = '[project.scripts]\nshop = "my_shop.cli:main"\n'
    files = {
        "pyproject.toml": BUILT.format("hatchling") + scripts,
        "my_shop/cli.py": "",
        "Procfile": "web: shop serve\n",
    }
    drafted = draft(lay(tmp_path, files), deployed(tmp_path))
    assert drafted.run == [".venv/bin/shop", "serve"]


@pytest.mark.parametrize(
    ("files", "run"),
    [
        (
            {"Dockerfile": 'ENTRYPOINT ["/app/bin/python", "/app/bin/shop"]\nCMD ["--hosts", "0.0.0.0:80,[::]:80"]\n'},
            [".venv/bin/shop", "--hosts", "{host}:{port}"],
        ),
        ({"my_shop/vendored/server.py": "IOLoop.instance()\n"}, [".venv/bin/shop"]),
        ({"my_shop/cli.py": ""}, [".venv/bin/shop"]),
        ({"main.py": ""}, [".venv/bin/python", "main.py"]),
        ({"my_shop/web.py": "app = Flask(__name__)\n"}, "uvicorn gunicorn"),
    ],
)
def test_what_a_package_installs_is_started_where_nothing_else_says_what_serves(
    tmp_path: Path, files: dict[str, str], run: list[str] | str
) -> None:
    project = BUILT.format("hatchling") + '[project.scripts]\nshop = "my_shop.cli:main"\n'
    drafted = draft(lay(tmp_path, {"pyproject.toml": project, **files}), deployed(tmp_path))
    assert drafted.run == run if isinstance(run, list) else drafted.run[2] in run
    asks = "`shop` is the program that the package installs: which arguments make it serve?" in drafted.marks()
    assert asks is (drafted.run == [".venv/bin/shop"])


def test_the_top_of_a_workspace_names_its_packages(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": '[tool.uv.workspace]\nmembers = ["api"]\n', "api/pyproject.toml": "[project]\n"})
    lay(tmp_path, {"manage.py": ""})
    with pytest.raises(UsageError, match="no project of its own") as caught:
        draft(tmp_path, deployed(tmp_path))
    assert f"--service {tmp_path / 'api'}" in str(caught.value)


@pytest.mark.parametrize(
    ("files", "marked"),
    [
        ({"Dockerfile": "FROM docker.io/python:3.14-slim AS a\nFROM a\nCMD python app.py\n"}, True),
        ({".python-version": "3.14.1\n"}, True),
        ({"runtime.txt": "python-3.14.0\n"}, True),
        ({"Dockerfile": "FROM x\nCMD python app.py\n"}, False),
        ({".python-version": "3.14\n", "pyproject.toml": '[project]\nname = "a"\nrequires-python = ">=3.11"\n'}, False),
    ],
)
def test_the_python_that_it_is_deployed_with_is_marked_where_it_names_none(
    tmp_path: Path, files: dict[str, str], marked: bool
) -> None:
    lay(tmp_path, {"requirements.txt": "flask\n", "app.py": "", **files})
    marks = draft(tmp_path, deployed(tmp_path)).marks()
    assert ("it is deployed with Python 3.14: another version may lack modules that it uses" in marks) is marked
