"""A service of Node.js is drafted as it is deployed: by what its build leaves, and with what that reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.intake.services import drafted, lay
from touchstone.intake.service.deployed import Deployment
from touchstone.intake.service.node import draft

TSC = {"tsconfig.json": '{"compilerOptions": {"outDir": "./out", /* all */ "rootDir": "./src"}}'}


def package(build: str | None, start: str, **more: object) -> dict[str, str]:
    scripts = {"start": start} | ({"build": build} if build else {})
    return {"package.json": json.dumps({"scripts": scripts, "dependencies": {"a": "1"}, **more})}


@pytest.mark.parametrize(
    ("files", "run"),
    [
        (package("nest build", "nest start"), "node dist/main.js"),
        (package("nest build", "nest start") | TSC, "node out/main.js"),
        (package("tsc -p .", "ts-node src/web/index.ts --fast") | TSC, "node out/web/index.js --fast"),
        (package("tsc", "node --import tsx src/index.mts") | TSC, "node out/index.mjs"),
        (package("tsc", "node .", main="dist/main.js"), "node dist/main.js"),
    ],
)
def test_what_the_build_leaves_is_run_and_not_its_source(tmp_path: Path, files: dict[str, str], run: str) -> None:
    plain = drafted(tmp_path, files).variants["plain"]
    assert " ".join(plain.run or []) == run
    assert plain.artifacts[0] == f"app/{run.split()[1].split('/', maxsplit=1)[0]}"
    marked = "which compiles as it starts" in (tmp_path / "bench/service/stack.toml").read_text()
    assert marked is ("main" not in json.loads(files["package.json"]))


@pytest.mark.parametrize(
    ("files", "run"),
    [
        (package(None, "nest start"), "app/node_modules/.bin/nest start"),
        (package("vite build", "tsx src/index.ts"), "app/node_modules/.bin/tsx src/index.ts"),
        (package("tsc", "ts-node index.ts") | {"tsconfig.json": "{}"}, "app/node_modules/.bin/ts-node index.ts"),
    ],
)
def test_what_compiles_as_it_starts_is_marked_and_not_built_before(
    tmp_path: Path, files: dict[str, str], run: str
) -> None:
    plain = drafted(tmp_path, files).variants["plain"]
    assert (" ".join(plain.run or []), plain.build) == (run, [])
    assert "compiles as it starts, which costs time" in (tmp_path / "bench/service/stack.toml").read_text()


def test_what_only_the_build_needs_is_counted(tmp_path: Path) -> None:
    lay(tmp_path, {"package-lock.json": "{}"})
    drafted(tmp_path, package("tsc", "node dist/a.js", devDependencies={"typescript": "5", "tsx": "4"}))
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert "# look: 2 devDependencies, which the build needs, lie in node_modules as well" in text
    assert "and the build `npm --prefix app prune --omit=dev`" in text


HUSKY = {"husky": "9"}


@pytest.mark.parametrize(
    ("script", "dependencies", "whole"),
    [
        ("husky", HUSKY, True),
        ("husky install config && npm run compile", HUSKY, True),
        ("husky || true", HUSKY, False),
        ("node scripts/prepare.js", HUSKY, False),
        ("prisma generate", {"prisma": "6"}, True),
        ("a generate", HUSKY, False),
    ],
)
def test_an_installation_gets_what_its_own_scripts_run(
    tmp_path: Path, script: str, dependencies: dict[str, str], whole: bool
) -> None:
    service = {"scripts": {"prepare": script}, "dependencies": {"a": "1"}, "devDependencies": dependencies}
    stack = drafted(tmp_path, {"package.json": json.dumps(service), "index.js": "", "package-lock.json": "{}"})
    assert stack.install is not None
    assert ("--omit=dev" not in stack.install.commands[0]) is whole
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert ("# look: 1 devDependencies, which the installation needs, lie in node_modules" in text) is whole


@pytest.mark.parametrize(
    ("more", "run"),
    [
        ({"bin": {"shop": "lib/bin.js"}, "main": "lib/index.js"}, "lib/bin.js"),
        ({"bin": "./cli.js"}, "./cli.js"),
        ({"bin": {"a": "a.js", "b": "b.js"}, "main": "lib/index.js"}, "lib/index.js"),
        ({"bin": {"a": 3}}, "server.js"),
    ],
)
def test_a_package_without_a_start_is_started_by_the_program_that_it_installs(
    tmp_path: Path, more: dict[str, object], run: str
) -> None:
    plain = drafted(tmp_path, {"package.json": json.dumps(more)}).variants["plain"]
    assert plain.run == ["node", run]
    assert f"is {run} what starts it?" in (tmp_path / "bench/service/stack.toml").read_text()


def test_what_is_compiled_by_another_name_is_built_where_it_is_not_there(tmp_path: Path) -> None:
    files = {"package.json": json.dumps({"scripts": {"compile": "tsup", "start": "node build/main.js"}})}
    assert drafted(tmp_path, files).variants["plain"].build == [["npm", "--prefix", "app", "run", "compile"]]
    (tmp_path / "bench/service/stack.toml").unlink()
    lay(tmp_path, {"build/main.js": ""})
    assert draft(tmp_path, Deployment()).build == []


def test_a_script_without_an_ending_is_read_and_shipped_with_what_it_starts(tmp_path: Path) -> None:
    script = "#!/usr/bin/env node\nrequire('../app').listen(process.env.SHOP_PORT)\n"
    made = {"bin/www": script, "app.js": "", "controllers/a.js": "", "views/a.pug": "", "test/a.js": ""}
    package_json = json.dumps({"name": "shop", "scripts": {"start": "node ./bin/www"}})
    plain = drafted(tmp_path, {"package.json": package_json, **made}).variants["plain"]
    assert plain.env["SHOP_PORT"] == "{port}"
    assert plain.artifacts == [f"app/{name}" for name in ("bin", "*.js", "views", "controllers", "package.json")]


@pytest.mark.parametrize(
    ("files", "shipped", "run"),
    [
        (
            package("next build", "next start -p 3000") | {"next.config.ts": "", "app/page.tsx": "", "public/a": ""},
            ".next/[!c]* public next.config.* package.json node_modules",
            "app/node_modules/.bin/next start -p {port}",
        ),
        (package("next build", "next start"), ".next/[!c]* package.json node_modules", "--port {port}"),
        (package("nuxt build", "nuxt start"), ".output package.json", "node .output/server/index.mjs"),
        (package("vite build", "node build"), "build package.json node_modules", "node build"),
        (package(None, "node web") | {"web.js": ""}, "*.js package.json node_modules", "node web"),
    ],
)
def test_a_frameworks_build_is_shipped_and_not_its_sources(
    tmp_path: Path, files: dict[str, str], shipped: str, run: str
) -> None:
    plain = drafted(tmp_path, files).variants["plain"]
    assert plain.artifacts == [f"app/{name}" for name in shipped.split()]
    assert " ".join(plain.run or []).endswith(run)


@pytest.mark.parametrize(
    ("engines", "needs"), [('">=22.3"', ">=22"), ('"20.x"', ">=20"), ('"*"', ">=18"), ("{}", ">=18"), ('"16"', ">=18")]
)
def test_the_node_that_it_names_is_needed(tmp_path: Path, engines: str, needs: str) -> None:
    stack = drafted(tmp_path, {"package.json": f'{{"engines": {{"node": {engines}}}}}', "index.js": ""})
    assert str(stack.needs["node"]) == needs
