"""What a service needs from its environment, and what only stands in for a default, in each language's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from touchstone.intake.service.environment import RequiredVariables
from touchstone.intake.service.sources import Source

LEXERS = {".py": "python", ".js": "js", ".ts": "ts", ".go": "go", ".rs": "rust", ".java": "java", ".kt": "kotlin"}


def wanted(file: str, code: str) -> list[str]:
    lexer = LEXERS.get(Path(file).suffix, "yaml")
    return list(RequiredVariables([Source(Path(file), code, lexer)]).wanted)


@pytest.mark.parametrize(
    ("file", "code", "names"),
    [
        ("a.py", 'os.environ["MODE"]; os.environ.get("LEVEL"); os.environ["SET"] = "x"', ["MODE"]),
        ("a.py", 'os.getenv("DATABASE_URL"); os.environ.get("LEVEL", "x")', ["DATABASE_URL"]),
        ("a.py", '# os.environ["MODE"]\n"""os.environ["DOC"]"""\n', []),
        (
            "a.py",
            'config("MODE"); config("LEVEL", default="x"); config("N", cast=int); config("D", default=1, cast=int)',
            ["MODE", "N"],
        ),
        ("a.py", 'env = Env()\nenv.str("MODE")\nenv.int("LEVEL", 3)\nenv.bool("DBG", default=False)', ["MODE"]),
        ("a.py", 'request.environ.get("HTTP_AUTHORIZATION"); environ["REMOTE_USER"]', []),
        ("a.py", 'def app(environ, start):\n    environ["wsgi.input"]; environ["SHOP_MODE"]; self.environ["MODE"]', []),
        ("a.py", 'from os import environ\nenviron["MODE"]', ["MODE"]),
        ("a.py", 'from os import (\n    path,\n    environ,\n)\nenviron["MODE"]', ["MODE"]),
        ("a.py", 'os.environ["TEMP"]; os.environ["QUERY_STRING"]', []),
        ("a.py", 'app.config["SECRET_KEY"]', []),
        ("a.go", 'parse(os.Environ()); t["DATABASE_URL"] = o; t["ADMIN_PASSWORD"] = o', ["DATABASE_URL"]),
        ("a.go", 't["DATABASE_URL"] = o; // os.Environ()', []),
        ("a.js", "connect(process.env.MODE); a = process.env.LEVEL || 3; b = process.env['N'] ?? 1", ["MODE"]),
        (
            "a.js",
            'if (process.env.MODE) {}; x = process.env.LEVEL ? 1 : 2; process.env.NODE_ENV; process.env.N === "1"',
            [],
        ),
        (
            "a.js",
            "parseInt(process.env.LEVEL) || 3; process.env.MODE = 1; !process.env.N; process.env['SECRET']",
            ["SECRET"],
        ),
        ("a.ts", "const a = process.env.MODE!; const b = process.env.LEVEL as string", ["MODE", "LEVEL"]),
        (
            "a.ts",
            'config.getOrThrow<string>("MODE"); configService.get("REDIS_HOST"); env.get("N").required()',
            ["MODE", "REDIS_HOST", "N"],
        ),
        ("a.go", 'os.Getenv("DATABASE_URL"); os.Getenv("LEVEL")', ["DATABASE_URL"]),
        ("a.go", 'm := os.Getenv("MODE")\nif m == "" {\n log.Fatal("x")\n}', ["MODE"]),
        ("a.go", 'm := os.Getenv("MODE")\nif m == "" {\n m = "x"\n}', []),
        ("a.go", 'm, ok := os.LookupEnv("MODE")\nif !ok {\n panic("x")\n}', ["MODE"]),
        ("a.go", 'mustGetenv("MODE"); mustEnv("N"); getenv("LEVEL", "x")', ["MODE", "N"]),
        ("a.go", 'type C struct {\n A string `env:"MODE,required"`\n B string `env:"LEVEL"`\n}', ["MODE"]),
        (
            "a.go",
            'envconfig.Process("shop", &c)\ntype C struct { A string `envconfig:"DSN" required:"true"` }',
            ["SHOP_DSN"],
        ),
        (
            "a.rs",
            'env::var("MODE").unwrap(); std::env::var("LEVEL").unwrap_or("x".into()); env::var("N")?',
            ["MODE", "N"],
        ),
        (
            "a.rs",
            'env::var("DATABASE_URL").ok(); env!("CARGO_PKG_VERSION"); option_env!("SHA"); env::var("A").expect("x")',
            ["A", "DATABASE_URL"],
        ),
        ("A.java", 'System.getenv("DB_PASSWORD"); System.getenv("LEVEL")', ["DB_PASSWORD"]),
        ("A.java", '@Value("${MODE}") @Value("${LEVEL:x}") Objects.requireNonNull(System.getenv("N"))', ["MODE", "N"]),
        (
            "A.kt",
            'System.getenv("MODE") ?: error("x"); System.getenv("LEVEL") ?: "x"; System.getenv("N")!!',
            ["MODE", "N"],
        ),
        ("application.yml", "a: ${MODE}\nb: ${LEVEL:info}\n# ${NO}\n", ["MODE"]),
        ("application.properties", "a=${MODE}\nb=${DB_URL:jdbc:x}\n", ["MODE", "DB_URL"]),
        ("application.conf", "a = 1\na = ${?MODE}\nb = ${REQUIRED}\n", ["REQUIRED"]),
    ],
)
def test_what_is_needed_is_told_from_what_has_a_default(file: str, code: str, names: list[str]) -> None:
    assert sorted(wanted(file, code)) == sorted(names)
