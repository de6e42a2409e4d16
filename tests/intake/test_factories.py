"""The server of an application that a function makes, and the project of a build that is deployed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import touchstone
from tests.intake.services import drafted, lay

INLINE = '[project]\nname = "shop"\nversion = "1"\ndependencies = ["{0}"]\n'
FACTORY = "from {0} import {1}\n\n\ndef create_app():\n    return {1}(__name__)\n"


@pytest.mark.parametrize(
    ("required", "framework", "name", "server"),
    [
        ("flask", "flask", "Flask", "gunicorn"),
        ("Flask>=3", "flask", "Flask", "gunicorn"),
        ("shop-base", "flask", "Flask", "gunicorn"),
        ("bottle", "bottle", "Bottle", "gunicorn"),
        ("fastapi", "fastapi", "FastAPI", "uvicorn"),
        ("flask", "fastapi", "FastAPI", "uvicorn"),
        ("shop-base", "starlette.applications", "Starlette", "uvicorn"),
        ("flask", "shop.web", "make", "gunicorn"),
    ],
)
def test_a_factory_is_served_as_its_framework_wants(
    tmp_path: Path, required: str, framework: str, name: str, server: str
) -> None:
    files = {"pyproject.toml": INLINE.format(required), "shop/__init__.py": FACTORY.format(framework, name)}
    (plain,) = drafted(tmp_path, files).variants.values()
    assert plain.run is not None
    assert server in plain.run
    assert ("shop:create_app()" if server == "gunicorn" else "shop:create_app") in plain.run


@pytest.mark.parametrize(
    "plugin", ['id("org.springframework.boot") version "3.3.0"', "application", 'id("io.ktor.plugin") version "3.0.0"']
)
def test_a_gradle_build_names_its_project_that_is_deployed(tmp_path: Path, plugin: str) -> None:
    files = {
        "settings.gradle.kts": 'include(":core", ":apps:server")\n',
        "build.gradle.kts": "",
        "core/build.gradle.kts": "plugins { `java-library` }\n",
        "apps/server/build.gradle.kts": f"plugins {{ {plugin} }}\n",
    }
    lay(tmp_path, files)
    done = touchstone(tmp_path, "new", "bench", "--service", ".")
    assert done.returncode == 2
    assert "--service apps/server" in done.stderr
    assert "core" not in done.stderr
    done = touchstone(tmp_path, "new", "bench", "--service", "apps/server")
    assert done.returncode == 0, done.stderr
    assert "no plugin tells" not in done.stdout
