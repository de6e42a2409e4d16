"""Errors that would appear after a build are reported before it, with file, line, key and fix."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.manifest.test_reader import STACK, written
from touchstone.check.folder import check_folder
from touchstone.check.problem import Problem
from touchstone.manifest.catalogue import read_scenario_folder
from touchstone.manifest.location import line_of

SCENARIOS = Path(__file__).parents[2] / "scenarios"
SCENARIO = """
schema = 1
name = "demo"
title = "Demo"
summary = "A demo"

[settings]
POOL = 4

[ready]
target = "/ping"

[dependencies.database]
kind = "sqlite"
env = "DATABASE_PATH"
[dependencies.database.settings]
schema = "CREATE TABLE users(name TEXT)"

[dependencies.downstream]
kind = "echo"
env = "DOWNSTREAM_URL"

[[contract]]
id = "ping"
says = "ping answers"
steps = [
  { target = "/ping", expect = { body = "pong" } },
  { target = "/ping-{fresh}", expect = { status = 404, pattern = "no .*" } },
  { target = "/x", repeat = 3, tally = { "200" = 1, "404" = 2 }, expect = { status = [200, 404] } },
  { dependency = "downstream", act = "fail" },
]
proofs = [{ says = "one row", dependency = "database", query = "SELECT count(*) FROM users", equals = 1 }]

[loads.ping]
title = "Ping"
requests = [
  { target = "/ping" },
  { target = "/ping?{counter}", expect = { pattern = "p[a-z]+" } },
]
proofs = [{ says = "calls", dependency = "downstream", query = "hits:/echo", equals = "ok" }]
"""


def problems(tmp_path: Path, scenario: str = SCENARIO, stack: str = STACK) -> list[Problem]:
    folder = written(tmp_path / "demo", scenario, stack)
    (folder / "one" / "server.py").write_text("pass")
    (folder / "ids.csv").write_text("id\n1\n")
    return check_folder(read_scenario_folder(folder))


def test_sound_manifests_have_no_problem(tmp_path: Path) -> None:
    assert problems(tmp_path) == []


def test_the_lab_gives_a_port_of_grpc_only_where_a_variant_has_one(tmp_path: Path) -> None:
    scenario = SCENARIO.replace("POOL = 4", "POOL = 4\nGRPC_PORT = 50051")
    assert problems(tmp_path, scenario) == []
    assert (
        problems(tmp_path, stack=STACK.replace('title = "plain"', 'title = "plain"\nenv = { GRPC_PORT = "{port}" }'))
        == []
    )
    apart = STACK.replace('title = "plain"', 'title = "plain"\ngrpc_port = "free"')
    (problem,) = problems(tmp_path, scenario, apart)
    assert "settings.GRPC_PORT: touchstone gives it itself" in str(problem)


def test_what_a_preparation_captures_is_known_to_requests_and_journeys(tmp_path: Path) -> None:
    prepare = 'prepare = [{ target = "/login", captures = { token = { json = "/token" } } }]\n'
    requests = SCENARIO.replace("requests = [\n", prepare + "requests = [\n").replace("{counter}", "{capture.token}")
    assert problems(tmp_path / "requests", requests) == []
    steps = 'steps = [{ target = "/{capture.token}" }, { target = "/{capture.other}" }]'
    journeys = f'[loads.go]\ntitle = "Go"\n{prepare}[[loads.go.journeys]]\nname = "go"\n{steps}\n'
    (found,) = problems(tmp_path / "journeys", SCENARIO + journeys)
    assert "{capture.other}" in found.what
    assert "captured is token" in found.fix


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ('pattern = "no .*"', 'pattern = "v[0-9"'),
            ["contract[0].steps[1].expect.pattern", "unclosed character class"],
        ),
        (('pattern = "no .*"', 'pattern = "(?=no).*"'), ["contract[0].steps[1].expect.pattern", "look-around"]),
        (('pattern = "p[a-z]+"', 'pattern = "p[a-z"'), ["loads.ping.requests[1]", "pattern"]),
        (
            ('{ target = "/ping" },', '{ target = "/ping", headers = { content-length = "9" } },'),
            ["loads.ping.requests[0].headers.content-length", "leave it out"],
        ),
        (
            ('[ready]\ntarget = "/ping"', '[ready]\ntarget = "/ping"\nheaders = { Transfer-Encoding = "chunked" }'),
            ["ready.headers.Transfer-Encoding", "frames each body"],
        ),
        (
            ('{ target = "/ping" },', '{ target = "/ping", headers = { Host = "a", host = "b" } },'),
            ["loads.ping.requests[0].headers.Host", "named twice"],
        ),
        (('[ready]\ntarget = "/ping"', '[ready]\ntarget = "/pingé"'), ["ready.target", "%C3%A9"]),
        (
            ('body = "pong"', 'body = "pong", content_type = "text/*"'),
            ["contract[0].steps[0].expect.content_type", "leave it out where any will do"],
        ),
        (('body = "pong"', 'headers = { allow = "(" }'), ["contract[0].steps[0].expect.headers.allow"]),
        (("/ping?{counter}", "/ping?{row.id}"), ["loads.ping.requests[1].target", "no such column", "`rows`"]),
        (("/ping?{counter}", "/{capture.id}"), ["loads.ping.requests[1].target", "no earlier step captures"]),
        (("p[a-z]+", "p{counter}"), ["loads.ping.requests[1].expect.pattern", "differs from request to request"]),
        (("/ping-{fresh}", "/{capture.id}"), ["contract[0].steps[1].target", "no earlier step captures"]),
        (('target = "/ping"', 'target = "/{fresh}"'), ["ready.target", "takes no placeholder"]),
        (
            ('act = "fail"', 'act = "fail", with = { text = "{capture.id}" }'),
            ["contract[0].steps[3].with.text", "no earlier step captures"],
        ),
        (('act = "fail"', 'act = "explode"'), ["contract[0].steps[3].act", "cannot 'explode'", "fail, slow"]),
        (('act = "fail"', 'act = "fail", with = { code = 404 }'), ["steps[3].with.code", "it takes: status"]),
        (('act = "fail"', 'act = "refuse", with = { status = 404 }'), ["steps[3].with.status", "it takes none"]),
        (('{ dependency = "downstream", act', '{ dependency = "kafka", act'), ["no dependency 'kafka'"]),
        (
            ('{ target = "/ping" },', '{ target = "/{env.TOUCHSTONE_NONE}" },'),
            ["loads.ping.requests[0].target", "TOUCHSTONE_NONE is not set"],
        ),
        (
            ('expect = { body = "pong" }', 'expect = { body = "{env.HOME}" }'),
            ["expect.body", "for what is sent"],
        ),
        (('"one row", dependency = "database"', '"one row", dependency = "db"'), ["proofs[0].dependency", "'db'"]),
        (("SELECT count(*) FROM users", "SELEC count(*) FROM users"), ["proofs[0].query", "syntax error"]),
        (("hits:/echo", "hitz:/echo"), ["loads.ping.proofs[0].query", "no counter"]),
        (("hits:/echo", "hits:/{counter}"), ["loads.ping.proofs[0].query", "is of one request"]),
        (("CREATE TABLE", "CREATE TABEL"), ["dependencies.database.settings.schema", "does not take"]),
        (('env = "DOWNSTREAM_URL"', 'env = "POOL"'), ["dependencies.downstream.env", "[settings]"]),
        (('env = "DOWNSTREAM_URL"', 'env = "X"\nsettings = { delay = 3 }'), ["settings.delay", "no setting 'delay'"]),
        (("POOL = 4", "PORT = 4"), ["settings.PORT", "touchstone gives it"]),
        (('title = "Ping"', 'title = "Ping"\ntimeout_s = 30.0'), ["loads.ping.timeout_s", "preset quick"]),
        (('title = "Ping"', 'title = "Ping"\nprofiles = []'), ["loads.ping.profiles", "no profile"]),
        (('title = "Ping"', 'title = "Ping"\nrows = "ids.csv"'), ["loads.ping.rows", "write {row.id}"]),
        (('title = "Ping"', 'title = "Ping"\ndependency_settings = { db = { x = 1 } }'), ["no dependency 'db'"]),
        (("repeat = 3", "repeat = 4"), ["contract[0].steps[2].tally", "counts 3", "4 requests"]),
        (('"404" = 2 }', '"500" = 2 }'), ["tally", "status 500 is not among"]),
        (("status = [200, 404]", "status = [200, 404, 999]"), ["expect.status", "999 is not a status code"]),
        (('{ target = "/ping", expect', '{ method = "HEAD", target = "/ping", expect'), ["HEAD has no body"]),
        (("status = 404, pattern", "status = 204, pattern"), ["status 204 has no body"]),
        (('body = "pong"', "json_exact = true"), ["json_exact", "no `json`"]),
        (('summary = "A demo"', 'summary = "A demo"\nbaseline = "two"'), ["baseline", "no stack 'two'"]),
        (
            (
                'summary = "A demo"',
                'summary = "A demo"\ndrain = { dependency = "t", downstream = "d", messages = [10] }',
            ),
            ["drain.dependency", "kind kafka"],
        ),
    ],
)
def test_a_scenario_that_would_fail_later(tmp_path: Path, change: tuple[str, str], said: list[str]) -> None:
    assert change[0] in SCENARIO
    found = problems(tmp_path, scenario=SCENARIO.replace(*change, 1))
    patterns = [problem.key for problem in found if problem.key[-1] == "pattern"]
    assert len(set(patterns)) == len(patterns), "a pattern is refused once, with one reason"
    told = "\n".join(str(problem) for problem in found)
    for part in ["scenario.toml:", "  do: ", *said]:
        assert part in told


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("python3 =", "maven ="), ["needs.maven", "did you mean 'mvn'"]),
        ((">=3.11", "newest"), ["needs.python3", "not a version range"]),
        (('run = ["python3", "server.py"]', 'run = ["pythn", "server.py"]'), ["run", "neither a tool"]),
        (('run = ["python3", "server.py"]', 'run = ["./server"]'), ["run", "not among the artifacts"]),
        (('run = ["python3", "server.py"]', 'run = ["env", "python3"]'), ["'env' is neither a tool", "write /bin/env"]),
        (
            ('run = ["python3", "server.py"]', 'artifacts = [".venv"]\nrun = ["gunicorn"]'),
            ["write .venv/bin/gunicorn if it is installed there"],
        ),
        (
            ('run = ["python3", "server.py"]', 'artifacts = [".venv"]\nrun = ["sh", "-c", "exec python3 server.py"]'),
            ["'sh' is neither a tool", "write /bin/sh"],
        ),
        (
            ('run = ["python3", "server.py"]', 'artifacts = ["node_modules"]\nrun = ["next"]'),
            ["write node_modules/.bin/next if it is installed there"],
        ),
        (('title = "plain"', 'title = "plain"\nrun_in = "no/app"'), ["run_in", "no folder no/app"]),
        (('"server.py"]', '"server.py", "--port=$PORT"]'), ["run", "$PORT stays as it is", "write {host} and {port}"]),
        (('"server.py"]', '"server.py", "{PORT}"]'), ["run", "{PORT} is not a place", "write {port}"]),
        (
            ('title = "plain"', 'title = "plain"\nenv = { URL = "http://${HOST}" }'),
            ["env.URL", "${HOST} stays as it is"],
        ),
        (('title = "plain"', 'title = "plain"\nbuild = [["cp", "{port}", "x"]]'), ["{port} is known when the service"]),
        (('run = ["python3", "server.py"]', 'run = ["/opt/none/server"]'), ["run", "no program /opt/none"]),
        (('title = "plain"', 'title = "plain"\nbuild = [["no-such-compiler"]]'), ["build[0]", "no-such-compiler"]),
        (('title = "plain"', 'title = "plain"\nbuild = [["cp", "{tool:go}", "x"]]'), ["{tool:go} is not in `needs`"]),
        (('title = "plain"', 'title = "plain"\nbuild = [["cp", "{base}/x", "x"]]'), ["{base}", "no base"]),
        (('title = "plain"', 'title = "plain"\nfootprint = ["jree"]'), ["footprint[0]", "'jree' is not known"]),
        (('title = "plain"', 'title = "plain"\nfootprint = ["/no/such/file"]'), ["no file /no/such/file"]),
        (('title = "plain"', 'title = "plain"\nextra_configuration = ["x.json"]'), ["no file x.json"]),
        (('title = "plain"', 'title = "plain"\nenv = { POOL = "9" }'), ["env.POOL", "settings give POOL"]),
        (('run = ["python3", "server.py"]', 'image = { dockerfile = "D" }'), ["image.dockerfile", "no file D"]),
        (('language = "Python"', 'language = "Python"\nsources = ["*.go"]'), ["sources[0]", "'*.go'"]),
        (('language = "Python"', 'language = "Python"\nextra_sources = { a = "../a" }'), ["extra_sources.a"]),
        (
            ('language = "Python"', 'language = "Python"\ninstall = { files = ["lock"], commands = [["true"]] }'),
            ["install.files[0]", "lock"],
        ),
    ],
)
def test_a_stack_that_would_fail_later(tmp_path: Path, change: tuple[str, str], said: list[str]) -> None:
    assert change[0] in STACK
    told = "\n".join(str(problem) for problem in problems(tmp_path, stack=STACK.replace(*change, 1)))
    for part in ["stack.toml:", "  do: ", *said]:
        assert part in told


@pytest.mark.parametrize(
    "command", ['["python3", "server.py", "{host}:{port}"]', '["/bin/sh", "-c", "exec python3 server.py $PORT"]']
)
def test_a_stack_may_name_the_address(tmp_path: Path, command: str) -> None:
    assert problems(tmp_path, stack=STACK.replace('["python3", "server.py"]', command)) == []


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (("summary",), 'summary = "A demo"'),
        (("settings", "POOL"), "POOL = 4"),
        (("contract", 0, "steps", 1, "target"), '  { target = "/ping-{fresh}"'),
        (("contract", 0, "steps", 3, "act"), '  { dependency = "downstream", act'),
        (("contract", 0, "proofs", 0, "query"), 'proofs = [{ says = "one row"'),
        (("loads", "ping", "requests", 1), '  { target = "/ping?{counter}"'),
        (("dependencies", "database", "settings", "schema"), "schema ="),
    ],
)
def test_a_key_is_found_in_the_text(key: tuple[str | int, ...], line: str) -> None:
    number = line_of(SCENARIO, key)
    assert number is not None
    assert SCENARIO.splitlines()[number - 1].startswith(line)


def test_the_command_tells_all_and_ends_with_2(tmp_path: Path) -> None:
    folder = written(tmp_path / "demo", SCENARIO.replace("hits:/echo", "hitz").replace('"p[a-z]+"', '"("'), STACK)
    (folder / "one" / "server.py").write_text("pass")
    command = [sys.executable, "-m", "touchstone.cli.main"]
    for words in (["check", str(folder)], ["run", str(folder), "--quick"]):
        done = subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        said = done.stdout + done.stderr
        assert "loads.ping.proofs[0].query" in said
        assert "loads.ping.requests[1].expect.pattern" in said
        assert "Traceback" not in said
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("scenario", sorted(path.parent.name for path in SCENARIOS.glob("*/scenario.toml")))
def test_nothing_is_wrong_with_the_scenarios_of_the_lab(scenario: str) -> None:
    assert check_folder(read_scenario_folder(SCENARIOS / scenario)) == []


def test_a_pattern_of_the_contract_may_count(tmp_path: Path) -> None:
    counting = SCENARIO.replace('pattern = "no .*"', 'pattern = "no {counter} {fresh} [0-9]{{2}}"')
    assert problems(tmp_path, counting.replace("{{2}}", "{2}")) == []
