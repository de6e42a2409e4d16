"""Services that are one of several packages in a repository."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.test_commands import touchstone
from tests.intake.services import lay
from touchstone.check.folder import refuse_problems
from touchstone.manifest.catalogue import read_scenario_folder
from touchstone.manifest.stack import Stack

API = {"name": "api", "scripts": {"build": "tsc", "start": "node dist/main.js"}, "dependencies": {"shared": "*"}}
SHARED = {"name": "shared", "scripts": {"build": "tsc"}, "dependencies": {"units": "*"}}
UNITS = {"name": "units", "scripts": {"build": "tsc"}}
ALONE = {"name": "alone", "scripts": {"build": "tsc", "start": "node dist/main.js"}, "dependencies": {"x": "1"}}


def packages(**top: object) -> dict[str, str]:
    manifests = {
        "package.json": {"name": "top", **top},
        "apps/api/package.json": API,
        "apps/alone/package.json": ALONE,
        "packages/shared/package.json": SHARED,
        "packages/units/package.json": UNITS,
        "packages/alone/node_modules/api/package.json": API,
    }
    return {name: json.dumps(manifest) for name, manifest in manifests.items()} | {"apps/api/src/main.ts": ""}


POM = "<project><artifactId>{}</artifactId>{}</project>"
NPM = packages(workspaces=["packages/*", "apps/*"]) | {"package-lock.json": ""}
PNPM = packages() | {"pnpm-lock.yaml": "", "pnpm-workspace.yaml": "packages: ['packages/**', 'apps/*', '!apps/alone']"}
CARGO = {
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
    "Cargo.lock": "",
    "crates/api/Cargo.toml": '[package]\nname = "api"\n',
    "crates/api/src/main.rs": "",
    "crates/other/Cargo.toml": '[package]\nname = "other"\n',
    "crates/other/src/main.rs": "",
}
MAVEN = {
    "pom.xml": POM.format("top", "<version>3</version><modules><module>common</module><module>apps</module></modules>"),
    "common/pom.xml": POM.format("common", ""),
    "apps/pom.xml": POM.format("apps", "<modules><module>api</module></modules>"),
    "apps/api/pom.xml": POM.format(
        "api", "<parent><artifactId>top</artifactId><version>3</version></parent><x>spring-boot</x>"
    ),
}


def drafted(home: Path, files: Mapping[str, str], service: str) -> Stack:
    """Its stack, drafted from within the service's own folder."""
    lay(home, files)
    done = touchstone(home / service, "new", "bench", "--service", ".")
    assert done.returncode == 0, done.stderr
    folder = read_scenario_folder(home / service / "bench")
    refuse_problems(folder, {"service"})
    (stack,) = folder.stacks
    return stack


@pytest.mark.parametrize(
    ("files", "service", "build", "shipped"),
    [
        (
            NPM,
            "apps/api",
            "npm --prefix app/packages/units run build; npm --prefix app/packages/shared run build; "
            "npm --prefix app/apps/api run build",
            "app/apps/api/dist app/apps/api/package.json app/packages/units app/packages/shared app/node_modules",
        ),
        (
            PNPM,
            "apps/api",
            "pnpm --dir app/packages/units run build; pnpm --dir app/packages/shared run build; "
            "pnpm --dir app/apps/api run build",
            "app/apps/api/dist app/apps/api/package.json app/apps/api/node_modules app/packages/units "
            "app/packages/shared app/node_modules",
        ),
        (
            CARGO,
            "crates/api",
            "cargo build --release --offline --locked --manifest-path app/Cargo.toml -p api --bin api; "
            "cp {cache}/target/release/api server",
            "server",
        ),
        (
            MAVEN,
            "apps/api",
            "mvn -B -q -f app/pom.xml -DskipTests -pl apps/api -am -o package",
            "app/apps/api/target/api-3.jar",
        ),
    ],
)
def test_the_workspace_is_copied_whole_and_of_it_the_service_is_built_with_what_it_needs(
    tmp_path: Path, files: Mapping[str, str], service: str, build: str, shipped: str
) -> None:
    stack = drafted(tmp_path, files, service)
    plain = stack.variants["plain"]
    assert stack.extra_sources == {"app": "../../../.."}
    assert "; ".join(" ".join(words) for words in plain.build) == build
    assert " ".join(plain.artifacts) == shipped
    assert plain.run_in == f"app/{service}"


def test_all_packages_say_what_is_installed(tmp_path: Path) -> None:
    install = drafted(tmp_path, NPM, "apps/api").install
    assert install is not None
    assert install.commands == [["npm", "--prefix", "app", "ci"]]
    assert set(install.files) == {
        *(f"app/{name}" for name in NPM if name.endswith(("package.json", "lock.json")) and "node_modules" not in name)
    }


@pytest.mark.parametrize(
    ("files", "service"),
    [
        (PNPM, "apps/alone"),
        # A list of examples: nothing holds its modules together.
        (MAVEN | {"apps/api/pom.xml": POM.format("api", "<x>spring-boot</x>")}, "apps/api"),
        (NPM, "packages/alone/node_modules/api"),
        (NPM | {"apps/api/.git/x": ""}, "apps/api"),
    ],
)
def test_who_is_left_out_installed_or_a_repository_of_its_own_is_copied_alone(
    tmp_path: Path, files: Mapping[str, str], service: str
) -> None:
    stack = drafted(tmp_path, files, service)
    assert stack.extra_sources == {"app": "../.."}
    assert stack.variants["plain"].run_in == "app"


def test_a_workspace_that_starts_nothing_itself_is_refused_with_the_services_that_it_has(tmp_path: Path) -> None:
    lay(tmp_path, NPM)
    done = touchstone(tmp_path, "new", "bench", "--service", ".")
    assert done.returncode == 2
    assert "this is a workspace of 4 packages" in " ".join(done.stderr.split())
    assert "--service apps/alone, --service apps/api" in " ".join(done.stderr.split())
    assert not (tmp_path / "bench").exists()


COMMON = {"libs/common/pyproject.toml": '[project]\nname = "common"\n'}
PIP = {
    "services/api/requirements.txt": "-r ../../requirements/base.txt\n-e ../../libs/common[fast]  # ours\nuvicorn\n",
    "services/api/main.py": "app = FastAPI()\n",
    "requirements/base.txt": "-c pins.txt\nfastapi==0.115.0 --hash=sha256:00\n",
    "requirements/pins.txt": "starlette==0.4\n",
}
UV = '[project]\nname = "api"\ndependencies = ["common", "uvicorn"]\n[tool.uv.sources]\ncommon = {}\n'


@pytest.mark.parametrize(
    ("files", "installed"),
    [
        (
            PIP | COMMON,
            ".venv/bin/python -m pip install --quiet ./app/libs/common[fast] uvicorn "
            "-c ./app/requirements/pins.txt fastapi==0.115.0",
        ),
        (
            COMMON
            | {
                "services/api/pyproject.toml": UV.format('{ path = "../../libs/common", editable = true }'),
                "services/api/main.py": "app = FastAPI()\n",
            },
            ".venv/bin/python -m pip install --quiet ./app/libs/common uvicorn",
        ),
        (
            COMMON
            | {
                "pyproject.toml": '[tool.uv.workspace]\nmembers = ["services/*", "libs/*"]\n',
                "uv.lock": "",
                "services/api/pyproject.toml": UV.format("{ workspace = true }"),
                "services/api/main.py": "app = FastAPI()\n",
            },
            "uv sync --quiet --frozen --no-dev --no-editable --project app/services/api",
        ),
    ],
)
def test_what_a_python_service_names_outside_of_its_folder_is_copied_with_it(
    tmp_path: Path, files: Mapping[str, str], installed: str
) -> None:
    stack = drafted(tmp_path, files, "services/api")
    assert stack.extra_sources == {"app": "../../../.."}
    assert stack.install is not None
    assert " ".join(stack.install.commands[-1]) == installed
    assert stack.variants["plain"].run_in == "app/services/api"
    assert stack.variants["plain"].artifacts[0] == "app/services/api/*.py"


def test_requirements_that_include_a_file_above_are_read_where_they_lie(tmp_path: Path) -> None:
    files = PIP | {"services/api/requirements.txt": "-r ../../requirements/base.txt\nuvicorn\n"}
    stack = drafted(tmp_path, files, "services/api")
    assert stack.install is not None
    assert stack.install.commands[-1][5:] == ["-r", "app/services/api/requirements.txt"]
    assert stack.install.files == [
        *("app/services/api/requirements.txt", "app/requirements/base.txt", "app/requirements/pins.txt"),
    ]


def test_what_lies_above_the_repository_is_not_copied_and_is_marked(tmp_path: Path) -> None:
    stack = drafted(tmp_path, PIP | COMMON | {"services/.git/x": ""}, "services/api")
    assert stack.extra_sources == {"app": "../.."}
    text = (tmp_path / "services/api/bench/service/stack.toml").read_text()
    assert f"# look: {tmp_path}/libs/common lies outside of its repository, and is not copied" in text
