"""What is a sign of a program for its developers, and what only looks like one."""

from __future__ import annotations

import shlex

import pytest

from touchstone.commands.development import development_signs

SIGNS = {
    "cargo build": "cargo build without --release",
    "cargo +nightly --locked build --bin api": "cargo build without --release",
    "cargo build --profile dev": "cargo build without --release",
    "./target/debug/api --port 80": "a program of target/debug",
    "go build -race -o api .": "go build -race",
    "go build -gcflags='all=-N -l' .": "go build with -gcflags=-N",
    "cc -o api api.c": "cc without -O",
    "x86_64-linux-gnu-g++-12 -O2 -O0 -c api.cpp": "x86_64-linux-gnu-g++-12 -O0",
    "ccache clang -Og -o api api.c": "clang -Og",
    "gcc -O2 -fsanitize=address api.c": "gcc -fsanitize=address",
    "cmake -S . -B out -DCMAKE_BUILD_TYPE=Debug": "-DCMAKE_BUILD_TYPE=Debug",
    "cmake --build out --config Debug": "cmake --config Debug",
    "meson setup out --buildtype debug": "meson --buildtype=debug",
    "zig build-exe main.zig": "zig build-exe without -O",
    "zig build -Doptimize=Debug": "zig with Debug",
    "dotnet build": "dotnet build without -c Release",
    "dotnet publish -c Debug": "dotnet publish -c Debug",
    "swift build": "swift build without -c release",
    "mvn spring-boot:run": "mvn spring-boot:run",
    "./gradlew :api:bootRun bootRun": "gradlew bootRun",
    "/opt/jdk/bin/java -Xint -jar api.jar": "java -Xint",
    "java --add-opens java.base/java.lang=ALL-UNNAMED -XX:TieredStopAtLevel=1 -cp a.jar Main": (
        "java -XX:TieredStopAtLevel=1"
    ),
    "java -agentlib:jdwp=transport=dt_socket,server=y -jar api.jar": (
        "java -agentlib:jdwp=transport=dt_socket,server=y"
    ),
    "node --inspect=0.0.0.0:9229 main.js": "node --inspect=0.0.0.0:9229",
    "bun --hot run main.ts": "bun --hot",
    "npm run dev": "npm run dev",
    "yarn start:dev": "yarn start:dev",
    "npx tsx watch main.ts": "tsx watch",
    "app/node_modules/.bin/nest start": "nest start, which compiles as it starts and stays next to the service",
    "nodemon main.js": "nodemon main.js",
    "next dev -p 80": "next dev",
    "python -X dev -m api": "python -X dev",
    ".venv/bin/python -m flask run": "flask run, a server for development",
    "python3 manage.py runserver 80": "manage.py runserver, a server for development",
    "uvicorn api:app --reload": "uvicorn --reload",
    "fastapi dev api.py": "fastapi dev",
    "uvicorn api:app --log-level debug": "--log-level debug",
    "./api -log.level=TRACE": "-log.level=TRACE",
    "java -jar api.jar --logging.level.root=DEBUG": "--logging.level.root=DEBUG",
    "gunicorn --log-level=debug api:app": "--log-level=debug",
    "php -S 127.0.0.1:80": "PHP's own server, which is for development",
    "rails server -e development": "rails in its development environment",
    "nice -n 5 strace -f ./api": "under strace",
    "python -m cProfile -m api": "under cProfile",
    "coverage run -m api": "under coverage",
    "node --cpu-prof main.js": "node --cpu-prof",
    "java -javaagent:/opt/jacocoagent.jar=output=file -jar api.jar": "java -javaagent:/opt/jacocoagent.jar=output=file",
    "go build -cover .": "go build -cover",
    "gcc -O2 -pg api.c": "gcc -pg",
    "make -j2 CFLAGS='-g -O0'": "make CFLAGS=-g -O0",
    "CXXFLAGS='-O2 -fsanitize=thread' make": "CXXFLAGS=-O2 -fsanitize=thread",
    "sh -c 'GOFLAGS=-race go build .'": "GOFLAGS=-race",
    "nim c -o:api api.nim": "nim c without -d:release",
    "crystal build api.cr": "crystal build without --release",
    "vite": "vite dev",
    "RUST_LOG=api=debug ./api": "RUST_LOG=api=debug",
    "sh -c 'cd app && cargo build; cp target/debug/api api'": "cargo build without --release",
    "bash -lc 'export A=1; NODE_ENV=development exec node main.js'": "NODE_ENV=development",
}
NONE = (
    "cargo build --release",
    "cargo build -r --locked",
    "cargo build --profile=lto",
    "cargo test",
    "cargo build $FLAGS",
    "go build -trimpath -ldflags='-s -w' -o api .",
    "go test -race ./...",
    "cc $CFLAGS -o api api.c",
    "cc @options -o api api.c",
    "cc -O0 -O2 -o api api.c",
    "cc -o api api.o",
    "clang-format api.c",
    "cmake -S . -B out -DCMAKE_BUILD_TYPE=Release",
    "zig build --release=safe",
    "zig build-exe -O ReleaseFast main.zig",
    "dotnet publish",
    "dotnet build -c Release",
    "dotnet api.dll",
    "swift build -c release",
    "mvn -B -q package",
    "java -jar api.jar -Xint --debug",
    "java -cp app.jar Main -ea",
    "java -XX:TieredStopAtLevel=4 -jar api.jar",
    "node main.js --inspect",
    "npm start",
    "npm run build",
    "npm ci --loglevel=verbose",
    "uvicorn api:app --log-level info",
    "./api --log-dir debug",
    "yarn develop",
    "next start",
    "python -m api --reload",
    "gunicorn -w 4 api:app",
    "php-fpm -F",
    "rails server -e production",
    "sh -c 'cc -O1 -o program *.c -lpthread'",
    "sh -c 'echo \"not closed'",
    "make CFLAGS='-O0 -O2'",
    "nim c -d:release api.nim",
    "crystal build --release api.cr",
    "crystal run api.cr",
    "vite build",
    "vite preview",
    "java -javaagent:opentelemetry.jar -jar api.jar",
    "sh",
)


@pytest.mark.parametrize(("command", "sign"), SIGNS.items())
def test_what_is_for_developers(command: str, sign: str) -> None:
    assert development_signs([shlex.split(command)], {}) == [sign]


@pytest.mark.parametrize("command", NONE)
def test_what_is_for_users(command: str) -> None:
    assert development_signs([shlex.split(command)], {}) == []


@pytest.mark.parametrize(
    ("env", "found"),
    [
        ({"NODE_ENV": "development"}, ["NODE_ENV=development"]),
        ({"APP_ENV": "local", "PORT": "80"}, ["APP_ENV=local"]),
        ({"FLASK_DEBUG": "1"}, ["FLASK_DEBUG=1"]),
        ({"LOG_LEVEL": "DEBUG"}, ["LOG_LEVEL=DEBUG"]),
        ({"JAVA_TOOL_OPTIONS": "-Xmx64m -Xint"}, ["JAVA_TOOL_OPTIONS: -Xint"]),
        ({"LD_PRELOAD": "/usr/lib/libasan.so.8"}, ["LD_PRELOAD=/usr/lib/libasan.so.8"]),
        ({"NODE_ENV": "production", "DEBUG": "0", "LOG_LEVEL": "info", "CATALOG": "debug", "APP_ENV": "test"}, []),
    ],
)
def test_what_an_environment_says(env: dict[str, str], found: list[str]) -> None:
    assert development_signs([], env) == found


@pytest.mark.parametrize(
    ("env", "found"),
    [
        ({"CFLAGS": "-g -O0"}, ["CFLAGS=-g -O0"]),
        ({"CGO_CFLAGS": "-Og"}, ["CGO_CFLAGS=-Og"]),
        ({"RUSTFLAGS": "-C opt-level=0"}, ["RUSTFLAGS=-C opt-level=0"]),
        ({"CARGO_PROFILE_RELEASE_OPT_LEVEL": "0"}, ["CARGO_PROFILE_RELEASE_OPT_LEVEL=0"]),
        ({"GOFLAGS": "-mod=mod -race"}, ["GOFLAGS=-mod=mod -race"]),
        ({"CMAKE_BUILD_TYPE": "Debug"}, ["CMAKE_BUILD_TYPE=Debug"]),
        ({"CFLAGS": "-O2 -g", "CXXFLAGS": "-O0 -O3", "RUSTFLAGS": "-C target-cpu=native -C opt-level=3"}, []),
        # npm installs what builds the program in this mode alone.
        ({"NODE_ENV": "development", "GOFLAGS": "-trimpath -mod=vendor", "CMAKE_BUILD_TYPE": "Release"}, []),
    ],
)
def test_what_the_environment_of_a_build_says(env: dict[str, str], found: list[str]) -> None:
    assert development_signs([], {}, env) == found
