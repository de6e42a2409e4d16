"""A service's inputs are read from its sources: its port, and variables of its environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.intake.services import GO, MAIN_GO, RUST, drafted


@pytest.mark.parametrize(
    ("files", "options", "env"),
    [
        (RUST | {"src/main.rs": 'env::var("KV_LISTEN").unwrap_or(":70".into())'}, "", "KV_LISTEN={host}:{port}"),
        (RUST | {"src/main.rs": '#[arg(long, env = "HTTP_PORT")]\n  http_port: u16,'}, "", "HTTP_PORT={port}"),
        (RUST | {"src/main.rs": "#[arg(short, long, default_value_t = 80)]\n  pub port: u16,"}, "--port {port}", ""),
        (GO | {"main.go": MAIN_GO + 'flag.String("addr", ":8080", "where")'}, "-addr {host}:{port}", ""),
        (GO | {"main.go": MAIN_GO + 'flag.IntVar(&c.port, "port", 80, "x")'}, "-port {port}", ""),
        (
            GO | {"main.go": MAIN_GO + 'os.Getenv("SERVER_ADDR") os.Getenv("SERVER_PORT") os.Getenv("REDIS_ADDR")'},
            "",
            "SERVER_PORT={port} SERVER_ADDR={host}",
        ),
        (GO | {"main.go": MAIN_GO + 'os.Getenv("PORT"); flag.String("port", "", "")'}, "", ""),
        (
            GO | {"main.go": MAIN_GO + 'parse(os.Environ())\no["LISTEN_ADDR"]; port = "1080"'},
            "",
            "LISTEN_ADDR={host}:{port}",
        ),
        (GO | {"main.go": MAIN_GO + 'os.Getenv("DB_HOST"); os.Getenv("LISTEN_FDS")'}, "", ""),
        (GO | {"main.go": MAIN_GO + 'fs.StringVar(&c.addr, "addr", ":8080", "x")'}, "-addr {host}:{port}", ""),
        (
            GO | {"main.go": MAIN_GO + '"github.com/spf13/cobra"\ncmd.Flags().StringVarP(&a, "addr", "a", "", "x")'},
            "--addr {host}:{port}",
            "",
        ),
        (GO | {"main.go": MAIN_GO + 'log.Info("up", zap.String("addr", a), zap.Int("port", 1))'}, "", ""),
        (
            {"go.mod": "module example.org/shop/v2\n", "main.go": MAIN_GO + 'os.Getenv("SHOP_PORT")'},
            "",
            "SHOP_PORT={port}",
        ),
        (
            {"Cargo.toml": '[package]\nname = "inventory-api"\n', "src/main.rs": 'env::var("INVENTORY_PORT")'},
            "",
            "INVENTORY_PORT={port}",
        ),
        (
            GO | {"main.go": MAIN_GO + 'flag.Int("port", 80, "x")', "shop.service": "ExecStart=/opt/shop --fd 0 -v\n"},
            "-v -port {port}",
            "",
        ),
        (
            GO
            | {
                "main.go": MAIN_GO + 'flag.String("listen", "", "x")',
                "Procfile": "web: ./shop -listen unix:/run/a.sock --docker=unix:///run/docker.sock",
            },
            "--docker=unix:///run/docker.sock -listen {host}:{port}",
            "",
        ),
        (
            GO
            | {
                "main.go": MAIN_GO + 'flag.String("addr", "", "x")',
                "Procfile": "web: ./shop -metrics-addr :9100 --grpc.listen=:90 -redis :6379 -a=:5432",
            },
            "-metrics-addr :9100 --grpc.listen=:90 -redis :6379 -a=:5432 -addr {host}:{port}",
            "",
        ),
        (GO | {"main.go": MAIN_GO, "client_test.go": "", "examples/a.go": 'os.Getenv("APP_PORT")'}, "", ""),
    ],
)
def test_the_address_goes_where_its_sources_read_it(
    tmp_path: Path, files: Mapping[str, str], options: str, env: str
) -> None:
    plain = drafted(tmp_path, files).variants["plain"]
    assert " ".join(plain.run or []) == f"./server {options}".rstrip()
    assert plain.env == dict(one.split("=") for one in env.split())
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert bool(re.search("^# look: it .*, as .* has it$", text, re.MULTILINE)) is bool(options or env)


@pytest.mark.parametrize(
    ("files", "port"),
    [
        (GO | {"main.go": MAIN_GO + 'http.ListenAndServe(":8080", nil)'}, 8080),
        (RUST | {"src/main.rs": 'TcpListener::bind("0.0.0.0:7070").await'}, 7070),
        (GO | {"main.go": MAIN_GO + 'os.Getenv("PORT"); http.ListenAndServe(":8080", nil)'}, None),
        (GO | {"main.go": MAIN_GO + "port = 5432\nlisten({host: h, port: 4000})"}, 4000),
        (GO | {"main.go": MAIN_GO + "listen(1234567)"}, None),
        ({"package.json": "{}", "index.js": "Bun.serve({ hostname, port: 3001, fetch })"}, 3001),
        ({"package.json": "{}", "index.js": "export default { fetch, port: 3002 }"}, 3002),
        ({"package.json": "{}", "index.js": "Bun.serve({ port: Bun.env.PORT ?? 3001, fetch })"}, None),
        (GO | {"main.go": MAIN_GO + "listen(99999)"}, None),
    ],
)
def test_a_port_that_nobody_can_change_is_the_variants(
    tmp_path: Path, files: Mapping[str, str], port: int | None
) -> None:
    assert drafted(tmp_path, files).variants["plain"].port == port


def test_what_it_reads_and_nothing_gives_is_marked(tmp_path: Path) -> None:
    read = 'os.Getenv("DATABASE_URL"); os.Getenv("HTTP_ADDR"); os.Getenv("LEVEL"); os.Getenv("API_KEY")'
    drafted(tmp_path, GO | {"main.go": MAIN_GO + read})
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert "# look: it reads DATABASE_URL, API_KEY: a dependency in scenario.toml gives it" in text


SETTINGS = """
class Settings(pydantic_settings.BaseSettings):
    \'\'\'The settings.

    note: not a field
    \'\'\'

    model_config = SettingsConfigDict(env_file=".env"PREFIX)

    database_url: str  # where
    mode: Literal["a", "b"]
    limit: int | None = None
    redis_url: str = "redis://localhost"
    region: str = Field(..., min_length=1)
    level: str = Field("info")
    app_port: int = 8000

    def url(self) -> str:
        found: str
        return found


class Item(BaseModel):
    name: str
"""


@pytest.mark.parametrize(
    ("source", "asked"),
    [
        (
            'env = environ.Env()\nenv("DJANGO_SECRET_KEY")\nenv.db("DATABASE_URL")\nenv.list("ALLOWED_HOSTS")\n',
            "DJANGO_SECRET_KEY, DATABASE_URL, ALLOWED_HOSTS",
        ),
        ('ALLOWED_HOSTS = os.environ.get("ALLOWED_HOSTS", "").split(",")\n', "ALLOWED_HOSTS"),
        (SETTINGS.replace("PREFIX", ""), "DATABASE_URL, MODE, REDIS_URL, REGION"),
        (
            SETTINGS.replace("PREFIX", ', env_prefix="SHOP_"'),
            "SHOP_DATABASE_URL, SHOP_MODE, SHOP_REDIS_URL, SHOP_REGION",
        ),
    ],
)
def test_what_the_settings_of_a_python_service_ask_for_is_marked(tmp_path: Path, source: str, asked: str) -> None:
    drafted(tmp_path, {"requirements.txt": "x\n", "server.py": "", "settings.py": source})
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert f"# look: it reads {asked}: a dependency in scenario.toml gives it" in text


def test_settings_with_a_port_say_where_it_listens(tmp_path: Path) -> None:
    files = {"requirements.txt": "x\n", "server.py": "", "settings.py": SETTINGS.replace("PREFIX", "")}
    assert drafted(tmp_path, files).variants["plain"].env == {"APP_PORT": "{port}"}


def test_what_a_program_takes_apart_is_read_as_well(tmp_path: Path) -> None:
    taken = "const { DATABASE_URL, APP_PORT: port = 3000 } = process.env;"
    plain = drafted(tmp_path, {"package.json": "{}", "index.js": taken}).variants["plain"]
    assert plain.env["APP_PORT"] == "{port}"
    assert "# look: it reads DATABASE_URL:" in (tmp_path / "bench/service/stack.toml").read_text()


@pytest.mark.parametrize(
    ("sources", "marked"),
    [("", True), ('os.Getenv("PORT")', False), ('http.ListenAndServe(":8080", nil)', False), ("flag.Parse()", True)],
)
def test_it_is_marked_where_nothing_says_where_it_listens(tmp_path: Path, sources: str, marked: bool) -> None:
    drafted(tmp_path, GO | {"main.go": MAIN_GO + sources})
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert ("# look: nothing was found that says where it listens" in text) is marked


def test_another_program_of_the_repository_says_nothing_about_the_one_that_is_run(tmp_path: Path) -> None:
    other = {"cmd/admin/main.go": MAIN_GO + 'flag.String("addr", "", "whom it asks"); os.Getenv("ADMIN_TOKEN")'}
    service = {"cmd/shop/main.go": MAIN_GO + 'http.ListenAndServe(":" + os.Getenv("PORT"), nil)'}
    plain = drafted(tmp_path, GO | other | service).variants["plain"]
    assert (plain.build[0][-1], plain.run) == ("./cmd/shop", ["./server"])
    assert "ADMIN_TOKEN" not in (tmp_path / "bench/service/stack.toml").read_text()


def test_the_example_of_its_environment_tells_what_a_library_reads_for_it(tmp_path: Path) -> None:
    """As zod, envalid and convict do: the name is the key of an object, and the environment is read as a whole."""
    example = "# HTTP\nHTTP_PORT=3000\nexport API_KEY=change-me\n#DEBUG_TOKEN=\nLOG_LEVEL=info\nREDIS_PORT=6379\n"
    parsed = {"package.json": "{}", "index.js": "schema.parse(process.env)", ".env.example": example}
    assert drafted(tmp_path, parsed).variants["plain"].env["HTTP_PORT"] == "{port}"
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert "# look: it reads HTTP_PORT, as .env.example has it" in text
    assert "# look: it reads API_KEY:" in text
    assert "DEBUG_TOKEN" not in text


@pytest.mark.parametrize("read", ["process.env.APP_PORT", 'args("--port <n>")'])
def test_sources_are_believed_before_an_example(tmp_path: Path, read: str) -> None:
    files = {"package.json": "{}", "index.js": read, ".env.example": "SERVER_PORT=1\n"}
    assert "SERVER_PORT" not in drafted(tmp_path, files).variants["plain"].env


def test_an_address_that_its_command_gives_is_the_labs(tmp_path: Path) -> None:
    files = GO | {
        "main.go": MAIN_GO,
        "Procfile": "web: ./shop --web.listen-address=:9090 --metrics.listen-address=:91\n",
    }
    plain = drafted(tmp_path, files).variants["plain"]
    assert plain.run == ["./server", "--web.listen-address={host}:{port}", "--metrics.listen-address=:91"]
