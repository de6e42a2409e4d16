"""A stack drafted from a service that is there: it says how the service is built and run, and does run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.test_commands import touchstone
from tests.intake.services import GO, MAIN_GO, drafted, lay

NODE = {"scripts": {"build": "tsc -p .", "start": "node dist/server.js"}, "dependencies": {"fastify": "5"}}
SERVER = """
const fs = require("fs");
require("http").createServer((request, response) => {
  const known = request.url === "/ping";
  response.writeHead(known ? 200 : 404).end(known ? fs.readFileSync("answer.txt") : "");
}).listen(process.env.PORT, process.env.HOST);
"""
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><parent><artifactId>spring-boot-starter-parent</artifactId>
<version>4.1.1</version></parent><artifactId>shop</artifactId><version>1.2</version></project>"""
QUARKUS = """<project><artifactId>shop</artifactId><build><plugins><plugin><artifactId>quarkus-maven-plugin</artifactId>
</plugin></plugins></build></project>"""
ASSEMBLED = """<project><artifactId>a</artifactId><version>2</version><build><plugins><plugin><configuration>
<descriptorRefs><descriptorRef>jar-with-dependencies</descriptorRef></descriptorRefs></configuration></plugin></plugins>
</build></project>"""


@pytest.mark.parametrize(
    ("files", "needs", "built", "run"),
    [
        (
            {"package.json": json.dumps(NODE), "package-lock.json": "{}", "tsconfig.json": "{}"},
            ["node", "npm"],
            "npm --prefix app run build",
            "node dist/server.js",
        ),
        (
            {"requirements.txt": "fastapi\nuvicorn\n", "src/shop/web.py": "api: FastAPI = FastAPI(title='x')\n"},
            ["python"],
            "",
            ".venv/bin/python -m uvicorn shop.web:api --app-dir src --host {host} --port {port}",
        ),
        (
            {"requirements.txt": "flask\n", "app.py": "app = Flask(__name__)\n"},
            ["python"],
            "",
            ".venv/bin/python -m gunicorn --bind {host}:{port} app:app",
        ),
        (
            {
                "requirements.txt": "flask\ngunicorn\n",
                "Procfile": "release: flask migrate\nweb: gunicorn -w 2 --bind 0.0.0.0:$PORT 'web:make_app()'\n",
            },
            ["python"],
            "",
            ".venv/bin/python -m gunicorn -w 2 --bind {host}:{port} web:make_app()",
        ),
        (
            {
                "pyproject.toml": '[project]\nname = "x"\nversion = "1"\ndependencies = ["fastapi"]\n',
                "uv.lock": "",
                "Dockerfile": "FROM python:3.13 AS made\nCMD sh\nFROM python:3.13\n"
                'ENTRYPOINT ["tini", "--"]\nCMD ["uv", "run", "uvicorn", \\\n "shop:app", "--port=8000"]\n',
            },
            ["python", "uv"],
            "",
            "app/.venv/bin/python -m uvicorn shop:app --host {host} --port {port}",
        ),
        (
            {
                "requirements.txt": "django\n",
                "shop/asgi.py": "application = get_asgi_application()\n",
                "shop/wsgi.py": "application = get_wsgi_application()\n",
            },
            ["python"],
            "",
            ".venv/bin/python -m gunicorn --bind {host}:{port} shop.wsgi:application",
        ),
        (
            {
                "requirements.txt": "fastapi\nuvicorn\n",
                "shop/api/main.py": "def create_app():\n    app = FastAPI()\n    return app\n",
                "tests/app.py": "app = FastAPI()\n",
            },
            ["python"],
            "",
            ".venv/bin/python -m uvicorn shop.api.main:create_app --factory --host {host} --port {port}",
        ),
        (
            {
                "package.json": json.dumps(
                    {"scripts": {"start": "NODE_ENV=production tsx src/web.ts"}, "devDependencies": {"tsx": "4"}}
                ),
                "yarn.lock": "",
                "Procfile": "web: yarn start\n",
            },
            ["node", "yarn"],
            "",
            "app/node_modules/.bin/tsx src/web.ts",
        ),
        (
            {
                "package.json": json.dumps(
                    {"scripts": {"dev": "bun run --hot src/index.ts"}, "dependencies": {"a": "1"}}
                ),
                "bun.lock": "",
            },
            ["bun"],
            "",
            "bun src/index.ts",
        ),
        (
            {
                "package.json": json.dumps({"scripts": {"build": "bun build src/a.ts", "start": "node dist/a.js"}}),
                "bun.lockb": "",
            },
            ["node", "bun"],
            "bun run --cwd app build",
            "node dist/a.js",
        ),
        (
            {"package.json": json.dumps({"scripts": {"start": "bun run dev"}, "module": "web.ts"}), "bun.lock": ""},
            ["bun"],
            "",
            "bun web.ts",
        ),
        (
            {"deno.jsonc": '{"tasks": { // "x"\n "start": "deno run --allow-net=a src/main.ts",}, /**/ "a": "//"}'},
            ["deno"],
            "",
            "deno run --cached-only --allow-net=a src/main.ts",
        ),
        (
            {"deno.json": '{"tasks": {"dev": {"command": "deno serve --watch -A web.tsx"}}}'},
            ["deno"],
            "",
            "deno serve --cached-only --host {host} --port {port} -A web.tsx",
        ),
        (
            {"requirements.txt": "aiohttp\n", "src/web.py": "app = web.Application()\nweb.run_app(app, port=8080)\n"},
            ["python"],
            "",
            ".venv/bin/python src/web.py",
        ),
        (
            {"package.json": json.dumps({"scripts": {"build": "tsc", "start": "npm run build && node dist/a.js"}})},
            ["node", "npm"],
            "npm --prefix app run build",
            "node dist/a.js",
        ),
        (
            {
                "package.json": json.dumps(
                    {
                        "scripts": {
                            "start": "npm run -s serve",
                            "serve": "npm run build && yarn web",
                            "web": "node dist/a.js --fast",
                            "build": "tsc",
                        }
                    }
                )
            },
            ["node", "npm"],
            "npm --prefix app run build",
            "node dist/a.js --fast",
        ),
        (
            {"package.json": json.dumps({"scripts": {"start": "npm start"}, "main": "web.js"})},
            ["node"],
            "",
            "node web.js",
        ),
        (
            {"package.json": json.dumps({"scripts": {"start": "nodemon web.js"}, "devDependencies": {"nodemon": "3"}})},
            ["node"],
            "",
            "node web.js",
        ),
        (
            {"deno.json": "{}", "server.ts": 'Deno.env.get("PORT")'},
            ["deno"],
            "",
            "deno run --cached-only --allow-all server.ts",
        ),
        (
            {"go.mod": "module x\n", "cmd/api/main.go": MAIN_GO, "lib.go": "package x\n", "package.json": "{}"},
            ["go"],
            "go build -C app -buildvcs=false -trimpath -o ../server ./cmd/api",
            "./server",
        ),
        (
            {
                "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
                "Cargo.lock": "",
                "crates/model/Cargo.toml": '[package]\nname = "model"\n',
                "crates/api/Cargo.toml": '[package]\nname = "shop-api"\n',
                "crates/api/src/main.rs": "fn main() {}\n",
            },
            ["cargo", "cc"],
            "--offline --locked --manifest-path app/Cargo.toml -p shop-api --bin shop-api",
            "./server",
        ),
        (
            {"pom.xml": POM},
            ["java", "mvn"],
            "mvn -B -q -f app/pom.xml -DskipTests -o package",
            "java -jar target/shop-1.2.jar --server.address={host} --server.port={port}",
        ),
        (
            {
                "pom.xml": POM,
                "Dockerfile": 'FROM x\nCMD ["java", "-jar", "/a.jar", "server", "--demo=a"]\n',
            },
            ["java", "mvn"],
            "mvn -B -q -f app/pom.xml -DskipTests -o package",
            "java -jar target/shop-1.2.jar server --demo=a --server.address={host} --server.port={port}",
        ),
        (
            {"pom.xml": QUARKUS, "src/main/kotlin/a.kt": ""},
            ["java", "mvn"],
            "mvn -B -q -f app/pom.xml -DskipTests -o package",
            "java -Dquarkus.http.host={host} -Dquarkus.http.port={port} -jar target/quarkus-app/quarkus-run.jar",
        ),
        (
            {
                "CMakeLists.txt": "project(shop CXX)\nadd_library(core a.cpp)\nadd_subdirectory(web)\n",
                "web/CMakeLists.txt": "add_executable(shop-web main.cpp)\n",
                "tests/CMakeLists.txt": "add_executable(shop-test test.cpp)\n",
                "web/main.cpp": 'if (option == "--listen-port=") port = 1;\n',
            },
            ["cmake", "ninja", "cxx"],
            "cmake -S app -B out -G Ninja -DCMAKE_BUILD_TYPE=Release",
            "./server --listen-port={port}",
        ),
        (
            {"build/libs/shop.jar": "", "build/libs/shop-plain.jar": ""},
            ["java"],
            "",
            "java -jar build/libs/shop.jar --server.address={host} --server.port={port}",
        ),
    ],
)
def test_its_own_files_say_how_it_is_built_and_run(
    tmp_path: Path, files: Mapping[str, str], needs: list[str], built: str, run: str
) -> None:
    stack = drafted(tmp_path, files)
    plain = stack.variants["plain"]
    assert list(stack.needs) == needs
    assert built in " ".join(plain.build[0] if plain.build else [])
    assert (plain.run_in, " ".join(plain.run or [])) == ("app", run)


@pytest.mark.parametrize(
    ("start", "env"),
    [
        ("PORT=3000 NODE_ENV=staging LEVEL=3 node web.js", {"NODE_ENV": "staging", "LEVEL": "3"}),
        ("node web.js", {"NODE_ENV": "production"}),
    ],
)
def test_what_a_command_sets_for_itself_stays_and_its_port_is_the_labs(
    tmp_path: Path, start: str, env: dict[str, str]
) -> None:
    files = {"package.json": json.dumps({"scripts": {"start": start}}), "web.js": ""}
    plain = drafted(tmp_path, files).variants["plain"]
    assert (plain.run, plain.env) == (["node", "web.js"], env)


@pytest.mark.parametrize(
    ("line", "run"),
    [
        ("gunicorn web:app", "gunicorn web:app --bind {host}:{port}"),
        ("exec gunicorn -b:${PORT:-8000} web:app", "gunicorn --bind {host}:{port} web:app"),
        ("waitress-serve --listen=*:8080 web:app", "waitress --listen={host}:{port} web:app"),
        ("uvicorn web:app --host 0.0.0.0 --port $PORT", "uvicorn web:app --host {host} --port {port}"),
        ("daphne web:app", "daphne web:app -b {host} -p {port}"),
    ],
)
def test_a_server_listens_where_the_lab_says(tmp_path: Path, line: str, run: str) -> None:
    plain = drafted(tmp_path, {"requirements.txt": "x\n", "Procfile": f"web: {line}\n"}).variants["plain"]
    assert " ".join(plain.run or []) == f".venv/bin/python -m {run}"


def test_a_line_that_takes_a_shell_is_no_command_and_is_marked(tmp_path: Path) -> None:
    line = "web: gunicorn -w $(nproc) shop.wsgi\n"
    files = {"requirements.txt": "django\n", "Procfile": line, "shop/wsgi.py": "application = get_wsgi_application()\n"}
    run = drafted(tmp_path, files).variants["plain"].run
    assert run == [".venv/bin/python", "-m", "gunicorn", "--bind", "{host}:{port}", "shop.wsgi:application"]
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert "# look: Procfile starts it by `sh -c gunicorn -w $(nproc) shop.wsgi`: see what that does" in text


def test_a_variable_stands_for_what_its_line_gives(tmp_path: Path) -> None:
    line = "web: gunicorn -w ${WEB_CONCURRENCY:-3} web:app\n"
    run = drafted(tmp_path, {"requirements.txt": "x\n", "Procfile": line}).variants["plain"].run
    assert run == [".venv/bin/python", "-m", "gunicorn", "-w", "3", "web:app", "--bind", "{host}:{port}"]


@pytest.mark.parametrize(("release", "needed"), [("8", ">=17"), ("17", ">=17"), ("21", ">=21"), ("${jdk}", ">=17")])
def test_the_java_that_a_pom_is_compiled_for_is_needed(tmp_path: Path, release: str, needed: str) -> None:
    named = f"<properties><maven.compiler.release>{release}</maven.compiler.release></properties></project>"
    stack = drafted(tmp_path, {"pom.xml": POM.replace("</project>", named)})
    assert str(stack.needs["java"]) == needed


@pytest.mark.parametrize(
    ("pom", "sources", "run", "env"),
    [
        (
            POM.replace("spring-boot-starter-parent", "x").replace("shop", "io.micronaut"),
            "",
            "1.2.jar",
            "MICRONAUT_SERVER",
        ),
        (ASSEMBLED, 'System.getenv().get("HTTP_PORT")', "java -jar target/a-2-jar-with-dependencies.jar", "HTTP_PORT"),
    ],
)
def test_a_jar_is_told_its_port_as_its_framework_or_its_sources_take_it(
    tmp_path: Path, pom: str, sources: str, run: str, env: str
) -> None:
    plain = drafted(tmp_path, {"pom.xml": pom, "src/main/java/A.java": sources}).variants["plain"]
    assert " ".join(plain.run or []).endswith(run)
    assert any(name.startswith(env) and value == "{port}" for name, value in plain.env.items())


def test_what_node_loads_before_is_not_what_it_runs(tmp_path: Path) -> None:
    manifest = {
        "scripts": {"start": "node -r dotenv/config --enable-source-maps web.js"},
        "dependencies": {"dotenv": "1"},
    }
    plain = drafted(tmp_path, {"package.json": json.dumps(manifest), "web.js": SERVER}).variants["plain"]
    assert plain.artifacts == ["app/*.js", "app/package.json", "app/node_modules"]


def test_what_a_script_does_before_it_starts_the_service_is_marked(tmp_path: Path) -> None:
    scripts = {"prestart": "node migrate.js", "start": "npm run serve", "serve": "node seed.js && node web.js"}
    drafted(tmp_path, {"package.json": json.dumps({"scripts": scripts}), "web.js": SERVER})
    written = (tmp_path / "bench/service/stack.toml").read_text()
    assert "# look: script `prestart` does before it: node migrate.js" in written
    assert "# look: script `serve` does before it: node seed.js" in written


def test_programs_of_rust_are_found_where_cargo_finds_them(tmp_path: Path) -> None:
    main = "fn main() {}\n"
    package = {"Cargo.toml": '[package]\nname = "shop"\n', "src/lib.rs": ""}
    plain = drafted(tmp_path, package | {"src/bin/serve.rs": main, "src/bin/tool/main.rs": main}).variants["plain"]
    assert " ".join(plain.build[0]).endswith("-p shop --bin serve")
    assert "# look: there are further programs: tool" in (tmp_path / "bench/service/stack.toml").read_text()


@pytest.mark.parametrize(
    ("deployed", "run", "env"),
    [
        ({"Procfile": "web: LEVEL=2 bin/shop serve --port $PORT\n"}, "./server serve --port {port}", {"LEVEL": "2"}),
        (
            {"Dockerfile": 'FROM scratch\nENTRYPOINT ["/shop"]\nCMD ["serve", "-p=80"]\n'},
            "./server serve -p={port}",
            {},
        ),
        ({"Dockerfile": 'FROM scratch\nENTRYPOINT ["/shop"]\n'}, "./server", {}),
        ({"Procfile": "web: go run .\n"}, "./server", {}),
    ],
)
def test_a_compiled_program_gets_the_arguments_that_it_is_deployed_with(
    tmp_path: Path, deployed: dict[str, str], run: str, env: dict[str, str]
) -> None:
    plain = drafted(tmp_path, GO | {"main.go": MAIN_GO} | deployed).variants["plain"]
    assert (" ".join(plain.run or []), plain.env) == (run, env)


def test_what_is_a_guess_is_marked(tmp_path: Path) -> None:
    drafted(tmp_path, {"go.mod": "module x\n", "cmd/a/main.go": MAIN_GO, "cmd/b/main.go": MAIN_GO})
    assert "# look: there are further programs: ./cmd/b" in (tmp_path / "bench/service/stack.toml").read_text()


def test_a_folder_that_says_nothing_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    lay(tmp_path, {"README.md": "a service"})
    done = touchstone(tmp_path, "new", "bench", "--service", ".")
    assert done.returncode == 2
    assert "there is none of go.mod, Cargo.toml" in done.stderr
    assert not (tmp_path / "bench").exists()
    both = touchstone(tmp_path, "new", "bench", "--service", ".", "--stack", "go")
    assert both.returncode == 2
    assert "give --stack or --service" in both.stderr


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_a_service_that_answers_passes_as_it_is_drafted(tmp_path: Path) -> None:
    manifest = json.dumps({"scripts": {"start": "node web.js"}})
    lay(tmp_path, {"package.json": manifest, "web.js": SERVER, "answer.txt": "pong"})
    assert touchstone(tmp_path, "new", "bench", "--service", ".").returncode == 0
    # It reads a file next to it, as from its own folder.
    done = touchstone(tmp_path, "run", "bench", "--quick", "--rounds", "1", "--phase", "verify", "--phase", "boot")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "service/plain keeps its contract: 3 checks" in done.stdout
