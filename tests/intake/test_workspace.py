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
    "apps/api/pom.xml": POM.format("api", "<parent><version>3</version></parent><x>spring-boot</x>"),
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
    [(PNPM, "apps/alone"), (NPM, "packages/alone/node_modules/api"), (NPM | {"apps/api/.git/x": ""}, "apps/api")],
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
