"""The port is that of what is deployed: not one of a test, an example, a comment or another language's part."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.intake.services import GO, MAIN_GO, RUST, drafted

LISTENS = GO | {"main.go": MAIN_GO + 'http.ListenAndServe(":9001", nil)'}
K8S = """apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      containers:
        - {name: proxy, image: envoyproxy/envoy:v1, ports: [{containerPort: 9901}]}
        - name: shop
          image: shop:1
          ports: [{containerPort: 8443}]
          env: [{name: DATABASE_URL, valueFrom: {secretKeyRef: {name: a, key: b}}}, {name: LEVEL, value: info}]
"""


@pytest.mark.parametrize(
    "others",
    [
        {"server_test.go": 'package main\nhttp.ListenAndServe(":1234", nil)'},
        {"internal/api/api_test.go": "package api\nfunc x() { listen(1234) }"},
        {"examples/client/main.go": MAIN_GO + 'http.ListenAndServe(":1234", nil)'},
        {"testdata/a.go": "listen(1234)", "docs/a.go": "listen(1234)", "e2e/e.go": "listen(1234)"},
        {"web/app.js": "app.listen(1234)", "web/package.json": "{}", "tools/dev.py": "app.run(port=1234)"},
        {"a.go": 'package main\n// http.ListenAndServe(":1234", nil)\n/* listen(1234) */\n'},
        {"cmd/other/main.go": MAIN_GO + 'http.ListenAndServe(":1234", nil)'},
        {"unused/unused.go": 'package unused\nhttp.ListenAndServe(":1234", nil)'},
        {
            "vendor/x/a.go": "listen(1234)",
            "third_party/a.go": "listen(1234)",
            "gen.go": "//go:build ignore\n\nlisten(1234)",
        },
    ],
)
def test_a_port_of_what_is_not_run_is_none_of_its_own(tmp_path: Path, others: Mapping[str, str]) -> None:
    assert drafted(tmp_path, {**others, **LISTENS}).variants["plain"].port == 9001


@pytest.mark.parametrize(
    ("files", "port"),
    [
        ({"package.json": "{}", "index.js": "app.listen(3001)", "index.test.js": "app.listen(1234)"}, 3001),
        ({"package.json": "{}", "src/a.spec.ts": "listen(1234)", "src/index.js": "serve({ port: 3001 })"}, 3001),
        (
            {
                "package.json": "{}",
                "index.js": "app.listen(3001) // not listen(1234)",
                "__tests__/a.js": "listen(1234)",
            },
            3001,
        ),
        (
            {"package.json": "{}", "client/package.json": "{}", "client/a.js": "listen(1234)", "z.js": "listen(3001)"},
            3001,
        ),
        (
            RUST | {"src/main.rs": 'bind("0.0.0.0:3001")\n#[cfg(test)]\nmod tests { fn a() { bind("0.0.0.0:1234") } }'},
            3001,
        ),
        (RUST | {"tests/api.rs": 'bind("0.0.0.0:1234")', "src/main.rs": 'bind("0.0.0.0:3001")'}, 3001),
        (
            {
                "requirements.txt": "",
                "server.py": '"""run(port=1234)"""\nserve(3001)\n# serve(1234)',
                "test_a.py": "serve(1234)",
            },
            3001,
        ),
        (
            {
                "requirements.txt": "",
                "server.py": "serve(3001)",
                "conftest.py": "serve(1234)",
                "a/tests.py": "serve(1234)",
            },
            3001,
        ),
        (
            {
                "pom.xml": "<project/>",
                "src/main/java/A.java": "new InetSocketAddress(3001)",
                "src/test/java/ATest.java": "listen(1234)",
            },
            3001,
        ),
    ],
)
def test_tests_and_comments_of_each_language_are_told_apart(
    tmp_path: Path, files: Mapping[str, str], port: int
) -> None:
    assert drafted(tmp_path, files).variants["plain"].port == port


@pytest.mark.parametrize(
    ("deployed", "port", "source"),
    [
        ({"Dockerfile": "FROM golang AS b\nEXPOSE 1\nFROM scratch\nEXPOSE 8080/tcp\nCMD /shop\n"}, 8080, "Dockerfile"),
        ({"Dockerfile": "FROM x\nARG P=8080\nEXPOSE ${P}\nCMD /shop\n"}, 8080, "Dockerfile"),
        ({"Dockerfile": "FROM x\nENV P=8080\nEXPOSE $P\nCMD /shop\n"}, 8080, "Dockerfile"),
        (
            {"Dockerfile": "FROM x\n# EXPOSE 1\nRUN <<E\nEXPOSE 2\nE\nEXPOSE \\\n # why\n 8080\nCMD /shop\n"},
            8080,
            "Dockerfile",
        ),
        ({"build/package/Dockerfile": "FROM x\nEXPOSE 8080\n"}, 8080, "build/package/Dockerfile"),
        # Among several, the port that its sources listen on.
        ({"Dockerfile": "FROM x\nEXPOSE 9090 9001 7070\n"}, 9001, "Dockerfile has it (which also has 9090, 7070)"),
        (
            {"Dockerfile": "FROM x\nEXPOSE 8080\n", "fly.toml": "[http_service]\ninternal_port = 1\n"},
            8080,
            "Dockerfile has it;",
        ),
        ({"fly.toml": "[http_service]\ninternal_port = 8080\n"}, 8080, "fly.toml"),
        ({"fly.toml": "[[services]]\ninternal_port = 8080\n"}, 8080, "fly.toml"),
        ({"compose.yaml": "services: {shop: {build: ., ports: ['80:8080']}}\n"}, 8080, "compose.yaml"),
        (
            {"docker-compose.yml": "services: {s: {build: {context: .}, ports: [{target: 8080}]}}\n"},
            8080,
            "docker-compose.yml",
        ),
        (
            {"compose.yaml": "services: {db: {image: postgres, ports: [5432]}, s: {build: ., expose: [8080]}}\n"},
            8080,
            "compose.yaml",
        ),
        ({"k8s/deployment.yaml": K8S}, 8443, "k8s/deployment.yaml"),
        ({"deploy/prod/app.yml": "---\nkind: Service\n---\n" + K8S}, 8443, "deploy/prod/app.yml"),
        ({"charts/shop/values.yaml": "service: {port: 80, targetPort: 8080}\n"}, 8080, "charts/shop/values.yaml"),
        ({"helm/values.yaml": "containerPort: 8080\n", "helm/templates/a.yaml": "{{ broken"}, 8080, "helm/values.yaml"),
        ({".do/app.yaml": "services: [{http_port: 8080}]\n"}, 8080, ".do/app.yaml"),
    ],
)
def test_the_port_is_that_on_which_it_is_reached_where_it_is_deployed(
    tmp_path: Path, deployed: Mapping[str, str], port: int, source: str
) -> None:
    assert drafted(tmp_path, {**LISTENS, **deployed}).variants["plain"].port == port
    assert f"# look: it listens on port {port}, as {source}" in (tmp_path / "bench/service/stack.toml").read_text()


@pytest.mark.parametrize(
    ("files", "env"),
    [
        (GO | {"main.go": MAIN_GO + "r := gin.Default()\nr.Run()"}, {}),
        # An image gives its port by a variable, from an argument of its build, or by a name of its framework's.
        (
            GO
            | {
                "main.go": MAIN_GO,
                "Dockerfile": "FROM x\nARG AT=80\nENV SHOP_SERVER_PORT=$AT\nEXPOSE $AT\nCMD /shop serve\n",
            },
            {"SHOP_SERVER_PORT": "{port}"},
        ),
        (
            RUST
            | {
                "src/main.rs": "",
                "Dockerfile": "FROM x\nENV ROCKET_PORT=8000 METRICS_PORT=9090\nEXPOSE 8000 9090\nCMD /shop serve\n",
            },
            {"ROCKET_PORT": "{port}", "METRICS_PORT": "9090"},
        ),
        (
            GO | {"main.go": MAIN_GO, "Dockerfile": "FROM x\nENV GIN_ADDR=0.0.0.0:80\nEXPOSE 80\nCMD /shop serve\n"},
            {"GIN_ADDR": "{host}:{port}"},
        ),
        # Libraries of options take a variable in an option's place.
        (
            RUST | {"src/main.rs": 'Arg::new("port").env("SHOP_PORT").long("port")'},
            {"SHOP_PORT": "{port}"},
        ),
        (
            GO | {"main.go": MAIN_GO + 'kingpin.Flag("listen", "x").Envar("SHOP_LISTEN")'},
            {"SHOP_LISTEN": "{host}:{port}"},
        ),
        (
            GO | {"main.go": MAIN_GO + '&cli.IntFlag{Name: "port", EnvVars: []string{"HTTP_PORT"}}'},
            {"HTTP_PORT": "{port}"},
        ),
        (
            GO | {"main.go": MAIN_GO + '&cli.IntFlag{Name: "port", Sources: cli.EnvVars("HTTP_PORT")}'},
            {"HTTP_PORT": "{port}"},
        ),
        (
            {
                "requirements.txt": "click\n",
                "shop.py": '@click.option("--port", envvar="HTTP_PORT")',
                "Dockerfile": "FROM x\nCMD python shop.py\n",
            },
            {"HTTP_PORT": "{port}"},
        ),
        (
            GO
            | {
                "main.go": MAIN_GO + 'viper.SetEnvPrefix("shop")\nviper.AutomaticEnv()',
                "config/config.yaml": "server: {port: 1}",
            },
            {"SHOP_SERVER_PORT": "{port}"},
        ),
        (
            RUST
            | {"src/main.rs": 'Environment::with_prefix("APP").prefix_separator("_").separator("__")'}
            | {"configuration/base.yaml": "application: {port: 8000, host: a}\ndatabase: {port: 5432}\n"},
            {"APP_APPLICATION__PORT": "{port}", "APP_APPLICATION__HOST": "{host}"},
        ),
        (
            GO | {"main.go": MAIN_GO + 'env.New("APP_", log.Infof)\ntype C struct { P int `env:"SERVER_PORT"` }'},
            {"APP_SERVER_PORT": "{port}"},
        ),
        (
            {
                "requirements.txt": "",
                "server.py": "",
                "Dockerfile": "FROM x\nENV SERVER_PORT=8080\nCMD python server.py\n",
            },
            {"SERVER_PORT": "{port}"},
        ),
    ],
)
def test_a_port_that_can_be_told_is_told(tmp_path: Path, files: Mapping[str, str], env: dict[str, str]) -> None:
    plain = drafted(tmp_path, {"Dockerfile": "FROM x\nEXPOSE 8080\n", **files}).variants["plain"]
    assert (plain.port, plain.env) == (None, env)


@pytest.mark.parametrize(
    "code",
    [
        'bind("0.0.0.0:7070")',
        'axum::Server::bind(&"0.0.0.0:7070".parse()?)',
        "SocketAddr::from(([0, 0, 0, 0], 7070))",
        'HttpServer::new(f).bind(("127.0.0.1", 7070))',
        "TcpListener::bind((Ipv4Addr::UNSPECIFIED, 7070))",
        "SocketAddr::new(IpAddr::V4(Ipv4Addr::new(0, 0, 0, 0)), 7070)",
        "warp::serve(routes).run(([0, 0, 0, 0], 7070))",
        "socket.listen(1024)?; TcpListener::bind((Ipv4Addr::UNSPECIFIED, 7070))",
    ],
)
def test_addresses_of_rust_are_read(tmp_path: Path, code: str) -> None:
    assert drafted(tmp_path, RUST | {"src/main.rs": f"fn main() {{ {code} }}"}).variants["plain"].port == 7070


@pytest.mark.parametrize(
    "files",
    [
        RUST | {"src/main.rs": "socket.listen(1024 /* backlog */)?;"},
        {
            "requirements.txt": "",
            "shop.py": "s = socket.socket()\ns.listen(2048)\n",
            "Dockerfile": "FROM x\nCMD python shop.py\n",
        },
    ],
)
def test_the_length_of_a_queue_is_no_port(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert drafted(tmp_path, files).variants["plain"].port is None
    assert "look: nothing was found that says where it listens" in (tmp_path / "bench/service/stack.toml").read_text()


@pytest.mark.parametrize(
    ("code", "run"),
    [
        ('"github.com/urfave/cli/v2"\n&cli.IntFlag{\n Name: "port",\n Value: 80,\n}', "--port {port}"),
        ('fs := pflag.NewFlagSet("x", 1)\nfs.Int("port", 80, "p")', "--port {port}"),
        ('var set = flag.NewFlagSet("x", 1)\nset.StringVar(&a, "addr", "", "p")', "-addr {host}:{port}"),
    ],
)
def test_flags_of_a_set_are_read(tmp_path: Path, code: str, run: str) -> None:
    imported = '"github.com/spf13/pflag"\n' if "pflag" in code else ""
    plain = drafted(tmp_path, GO | {"main.go": MAIN_GO + imported + code}).variants["plain"]
    assert " ".join(plain.run or []) == f"./server {run}"


@pytest.mark.parametrize(
    ("said", "port"), [("server_port: 8080\n", 8080), ("server: {port: 8080}\n", 8080), ("smtp: {port: 2525}\n", None)]
)
def test_a_port_of_its_settings_is_its_own(tmp_path: Path, said: str, port: int | None) -> None:
    assert drafted(tmp_path, GO | {"main.go": MAIN_GO, "config/local.yml": said}).variants["plain"].port == port


@pytest.mark.parametrize(
    ("files", "asked"),
    [
        ({"k8s/deployment.yaml": K8S}, "DATABASE_URL"),
        ({"k8s/a.yaml": K8S.replace("secretKeyRef: {name: a, key: b}", "fieldRef: {fieldPath: a}")}, ""),
        (
            {"app.json": '{"env": {"TEAM": {}, "A": {"value": "x"}, "B": {"required": false}, "C": "y"}}'},
            "TEAM",
        ),
        ({"render.yaml": "services: [{type: web, envVars: [{key: TEAM, sync: false}, {key: A, value: b}]}]"}, "TEAM"),
        ({"Dockerfile": "FROM x\nENV REDIS_HOST=redis LEVEL=info\nCMD /shop serve\n"}, "REDIS_HOST"),
        ({"Dockerfile": "FROM x\nENV DATABASE_URL=sqlite:///a.db\nCMD /shop serve\n"}, ""),
    ],
)
def test_what_is_given_only_where_it_is_deployed_is_marked(
    tmp_path: Path, files: Mapping[str, str], asked: str
) -> None:
    plain = drafted(tmp_path, {**LISTENS, **files}).variants["plain"]
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert (f"# look: it reads {asked}:" in text) is bool(asked)
    assert asked not in plain.env


def test_a_port_in_a_settings_file_of_the_jvm_is_its_own(tmp_path: Path) -> None:
    files = {
        "build.gradle.kts": 'plugins { kotlin("jvm"); application }',
        "src/main/kotlin/App.kt": 'app.start(getProperty("server_port"))',
        "src/main/resources/koin.properties": "server_port=7001\n",
    }
    assert drafted(tmp_path, files).variants["plain"].port == 7001


def test_a_variable_of_an_image_that_nothing_gives_is_marked(tmp_path: Path) -> None:
    image = {"Dockerfile": "FROM x\nARG VERSION\nENV RELEASE=v$VERSION LEVEL=info\nCMD /shop serve\n"}
    assert drafted(tmp_path, {**LISTENS, **image}).variants["plain"].env == {"LEVEL": "info"}
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert "# look: Dockerfile sets RELEASE to `v$VERSION`, which nothing gives: left out" in text
