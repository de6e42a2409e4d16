"""Manifests that are broken in one place, and whether a JSON Schema can show it."""

# ruff: noqa: E501 - a case is a line

from __future__ import annotations

SCENARIO = """
schema = 1
name = "demo"
title = "Demo"
summary = "A demo"
[ready]
target = "/ping"
[[contract]]
id = "ping"
says = "ping answers"
steps = [{ target = "/ping", expect = { body = "pong" } }]
[loads.ping]
title = "Ping"
requests = [{ target = "/ping" }]
"""
STACK = """
schema = 1
name = "one"
scenario = "demo"
title = "One"
language = "Python"
[needs]
python3 = ">=3.11"
[variants.plain]
title = "plain"
artifacts = ["server.py"]
run = ["python3", "server.py"]
"""
CLAIMS = """
schema = 1
name = "mine"
title = "Mine"
summary = "Mine"
scenario = "demo"
[[claims]]
id = "A1"
says = "one is faster"
figure = "throughput"
load = "ping"
test = { kind = "ratio", of = "one/plain", to = "two/plain", at_least = 2.0 }
"""
MIX = """
[[requests]]
target = "/"
"""
BASES = {"scenario": SCENARIO, "stack": STACK, "claims": CLAIMS, "mix": MIX}

STEP = '{ target = "/ping", expect = { body = "pong" } }'
LOAD = 'title = "Ping"\n'
TOP = "[ready]"
RUN = 'run = ["python3", "server.py"]'
SECOND = RUN + '\n[variants.two]\ntitle = "2"\nbase = "plain"\n'
TEST = 'test = { kind = "ratio", of = "one/plain", to = "two/plain", at_least = 2.0 }'
REQUESTS = 'requests = [{ target = "/ping" }]'


def _each(kind: str, place: str, *others: str) -> list[tuple[str, str, str]]:
    return [(kind, place, other) for other in others]


def _step(*steps: str) -> list[tuple[str, str, str]]:
    return _each("scenario", STEP, *steps)


def _load(*lines: str) -> list[tuple[str, str, str]]:
    return _each("scenario", LOAD, *(f"{LOAD}{line}\n" for line in lines))


def _dependency(*lines: str) -> list[tuple[str, str, str]]:
    return _each("scenario", "[loads.ping]", *(f"[dependencies.d]\n{line}\n[loads.ping]" for line in lines))


def _top(*lines: str) -> list[tuple[str, str, str]]:
    return _each("scenario", TOP, *(f"{line}\n{TOP}" for line in lines))


def _expect(*expectations: str) -> list[tuple[str, str, str]]:
    return _step(*(f'{{ target = "/", expect = {{ {one} }} }}' for one in expectations))


def _variant(*lines: str) -> list[tuple[str, str, str]]:
    return _each("stack", RUN, *(f"{RUN}\n{line}" for line in lines))


SHOWN: list[tuple[str, str, str]] = [
    *_each("scenario", "schema = 1", "schema = 2", 'schema = "1"', "schema = 1\nshcema = 1"),
    *_each("scenario", 'name = "demo"', "name = 7", 'name = "De mo"', 'name = "-demo"', 'name = "a--b"', ""),
    *_each("scenario", 'title = "Demo"', 'titel = "Demo"', "title = ['Demo']"),
    *_each("scenario", "[loads.ping]", "[loads.Ping]", "[reddy.ping]", "[loads]"),
    *_step("5", '{ wait_s = 0.0 }', '{ dependency = "d", act = 3 }', '{ dependency = "d", act = "a", with = { x = [1] } }'),
    *_step('{ target = "/", body = "a", body_file = "b" }', '{ target = "/", encoding = "bytes" }'),
    *_step('{ target = "/", encoding = "bytes", body = "\\u0100" }', '{ target = "" }', '{ target = "/a b" }'),
    *_step('{ target = "/é" }', '{ target = "/{conuter}" }', '{ target = "/{{x}}" }', '{ target = "/{key:a..b}" }'),
    *_step('{ target = "/{key:1..5:normal}" }', '{ target = "/{capture.a:hex}" }', '{ target = "/{row.a}" }'),
    *_step('{ target = "/", headers = { Content-Length = "3" } }', '{ target = "/", headers = { "A b" = "3" } }'),
    *_step('{ target = "/", headers = { transfer-encoding = "x" } }', '{ target = "/", method = "get" }'),
    *_step('{ target = "/", concurrent = 5 }', '{ target = "/", repeat = 0 }', '{ target = "/", tally = { "2xx" = 1 } }'),
    *_step('{ target = "/", method = "HEAD", expect = { body = "x" } }'),
    *_step('{ target = "/", captures = { a = {} } }', '{ target = "/", captures = { a = { json = "/a", header = "b" } } }'),
    *_step('{ target = "/", captures = { "1a" = { json = "/a" } } }', '{ target = "/", captures = { a = { json = "a" } } }'),
    *_expect('status = "200"', 'status = [200, "404"]', "status = []", "status = 99", "status = [200, 600]"),
    *_expect('body = "a", pattern = "b"', 'json = { a = 1 }, body = "x"', 'encoding = "decoded"', 'encoding = "bytes"'),
    *_expect('encoding = "bytes", body = "\\u0100"', "json_exact = true", 'status = 204, body = "x"'),
    *_expect('status = [204, 304], json = { a = 1 }', 'json = { a = { b = "{fresh}" } }', "json = { a = { type = 'int' } }"),
    *_expect("json = { a = [{ type = 'integer' }] }", "json = { a = 2026-01-01 }", 'body = "{env.A}"', 'json = { a = "{env.A}" }'),
    *_load("steps = 3", 'loop = "open"\nrate = 5.0\nsteps = 3', 'loop = "steps"\nrate = 5.0', 'loop = "open"', "rate = 5.0"),
    *_load('arrivals = "uniform"', "pipeline = 4\nkeepalive = false", "streams = 4", 'protocol = "h2c"\npipeline = 4'),
    *_load("requests_per_connection = 2\nkeepalive = false", "requests_per_connection = 2\npipeline = 2"),
    *_load('requests_per_connection = 2\nprotocol = "h2c"', "requests_per_connection = 0"),
    *_load('protocol = "h2c"\nkeepalive = false', 'protocol = "h2"\ntls = false', 'protocol = "h2c"\ntls = true'),
    *_load('protocol = "h3"', "connections = 0", "connections = true", "timeout_s = 0", "error_allowance = 1.0"),
    *_load('profiles = ["long"]', 'rate = "fast"\nloop = "open"', "tls = true\nstreams = 2", "proofs = [{ says = 'x' }]"),
    *_load('proofs = [{ says = "x", dependency = "d", query = "{counter}", equals = 1 }]'),
    *_each("scenario", REQUESTS, "requests = []", "", f"{REQUESTS}\njourneys = [{{ name = 'a', steps = [{{ target = '/' }}] }}]"),
    *_each("scenario", REQUESTS, "journeys = [{ name = 'a', steps = [] }]", "requests = [{ target = '/', weight = 0 }]"),
    *_each("scenario", REQUESTS, "pipeline = 2\njourneys = [{ name = 'a', steps = [{ target = '/' }] }]"),
    *_each("scenario", REQUESTS, "requests = [{ target = '/{row.a}' }]"),
    *_each("scenario", REQUESTS, "requests = [{ target = '/', expect = { pattern = '{counter}' } }]"),
    *_each("scenario", REQUESTS, "journeys = [{ name = 'a', steps = [{ target = '/', think_s = -1 }] }]"),
    *_each("scenario", 'target = "/ping"\n[[', 'target = "/{counter}"\n[[', 'target = "/"\nwithin_s = 0\n[['),
    *_top('protocol = "h2"\ntls = false', 'baseline = "Two"', 'settings = { PORT = "1" }', "settings = { A = 1.5 }"),
    *_each("scenario", f"{TOP}\n", f'settings = {{ HOST = "a" }}\n{TOP}\n'),
    *_dependency('kind = "postgers"\nenv = "A"', 'kind = "postgres"', 'kind = "sqlite"\nenv = "PORT"'),
    *_dependency('kind = "sqlite"\nenv = "A"\nsettings = { page_size = 1 }', 'kind = "process"\nenv = "A"'),
    *_dependency('kind = "sqlite"\nenv = "A"\nvariables = { B = "{port}" }', 'kind = "kafka"\nenv = "A"\nsettings = { partitions = 0 }'),
    *_dependency('kind = "kafka"\nenv = "A"\nsettings = { topics = "a" }', 'kind = "echo"\nenv = "A"\nsettings = { delay_ms = -1 }'),
    *_dependency('kind = "echo"\nenv = "A"\nsettings = { server = "go" }', 'kind = "process"\nenv = "A"\nsettings = { run = [] }'),
    *_dependency('kind = "process"\nenv = "A"\nsettings = { run = ["/bin/sh"] }', 'kind = "postgres"\nenv = "A"\nsettings = { tare = {} }'),
    *_dependency('kind = "process"\nenv = "A"\nsettings = { address = "a:1", ready_s = 601 }'),
    *_dependency('kind = "postgres"\nenv = "A"\nvariables = { "A=B" = "{port}" }'),
    *_each("scenario", "[loads.ping]", '[hold]\nrequest = { target = "/" }\nlevels = [10]\n[loads.ping]'),
    *_each("scenario", "[loads.ping]", '[hold]\nrequest = { target = "/" }\nlevels = []\nlarge_settings = {A = 1}\n[loads.ping]'),
    *_each("scenario", "[loads.ping]", '[hold]\nrequest = { target = "/{fresh}" }\nlevels = [1, 2]\n[loads.ping]'),
    *_each("scenario", "[loads.ping]", *(f"[bounds]\nrequest = {{ target = '/'{one} }}\n[loads.ping]" for one in (
        ", body = 'x'", ", method = 'POST', body = ''", ", headers = { A = '{counter}' }"))),
    *_each("scenario", "[loads.ping]", '[bounds]\nrequest = { grpc = "a.B/C" }\n[loads.ping]'),
    *_each("scenario", "[loads.ping]", *(f'[capacity]\nobjective = "{one}"\n[loads.ping]' for one in (
        "", "p99", "p99 > 5ms", "p99 < 5", "errors < 1%", "rate < 5", "p99 < 0ms", "p98 < 5ms", "p99 < 5ms,", "p99 < 5ms p50 < 1ms"))),
    *_each("scenario", "[loads.ping]", '[floor]\nload = "ping"\nfrom_mb = 2000\n[loads.ping]'),
    *_each("scenario", "[loads.ping]", '[floor]\nload = "ping"\nto_mb = 4\n[loads.ping]'),
    *_each("scenario", "[loads.ping]", '[stop]\nload = "ping"\nrate = 30000\n[loads.ping]'),
    *_each("scenario", "[loads.ping]", '[probe]\ntarget = "ping"\n[loads.ping]', "[drain]\n[loads.ping]"),
    *_variant('build_env = { A = "1" }', 'profiled = { build_env = { A = "1" } }', 'sound_twin = "plain"', "port = 65536"),
    *_variant('memory_settings = [{ title = "x", args = ["-a"], heap_share = 0.5 }]', 'image = "a:1"', 'run_in = ".."'),
    *_variant('env = { PORT = "1" }', 'env = { GRPC_PORT = "1" }\ngrpc_port = "free"', 'env = { A = "{GRPC_PORT}" }', 'env = { A = "$PORT" }', 'env = { A = "{PORT}" }', 'footprint = ["jdk"]', "native = 1"),
    *_variant('build = [["cc", "{port}"]]', 'build = [["cc", "{base}"]]', "build = [[]]", 'needs = { gcx = ">=1" }'),
    *_variant('install = { commands = [] }', 'needs = { cc = "newest" }', "build = 'make'"),
    *_each("stack", RUN, SECOND + 'build_env = { A = "1" }', SECOND + 'install = { commands = [["true"]] }', "", "run = []"),
    *_each("stack", RUN, 'image = { dockerfil = "D" }', 'image = { target = "x" }', 'image = "-a"', "image = {}"),
    *_each("stack", RUN, 'image = { reference = "a", args = { B = "1" } }', 'image = { dockerfile = "../Dockerfile" }'),
    *_each("stack", RUN, 'run = ["python3", "{port}"]\nport = 8080', 'run = ["python3", "$PORT"]', 'run = ["python3", "{base}"]'),
    *_each("stack", RUN, 'image = "a"\nmemory_settings = [{ title = "x", args = ["-Xmx1m"] }]', 'run = ["python3", "{HOST}"]'),
    *_each("stack", RUN, RUN + '\n[variants."two three"]\ntitle = "2"\nbase = "plain"'),
    *_each("stack", "python3 =", "pyhton3 =", "artifacts ="),
    *_each("stack", "[needs]", 'speaks = ["h3"]\n[needs]', 'folder = "."\n[needs]', 'by_default = "no"\n[needs]'),
    ("stack", RUN, 'image = "a"\ninstall = { commands = [["true"]] }'),
    *_each("claims", TEST, "", TEST + '\nnot_measured = "x"', 'not_measured = "x"\nwhy = true', TEST.replace("at_least", "at_lest")),
    *_each("claims", TEST, 'test = { kind = "ratio", of = "one/plain", to = "two/plain" }', 'test = { kind = "rato", of = "a/b" }'),
    *_each("claims", TEST, 'test = { kind = "ratio", of = "one", to = "two/plain", at_least = 1.0 }'),
    *_each("claims", TEST, 'test = { kind = "event", event = "dies", of = ["a/b"] }', 'test = { kind = "order", of = ["a/b"] }'),
    *_each("claims", TEST, 'test = { kind = "event", event = "dies", of = ["a/b"], limit = 3.0, unit = "ms" }'),
    *_each("claims", TEST, 'test = { kind = "event", event = "dies", of = ["a/b"], limit = 3.0, unit = "MB", occurs = false }'),
    *_each("claims", TEST, 'test = { kind = "event", event = "finding", of = ["a/b"], limit = 3.0, unit = "MB", findings = ["x"] }'),
    *_each("claims", TEST, 'test = { kind = "event", event = "finding", of = ["a/b"] }'),
    *_each("claims", TEST, 'test = { kind = "equality", of = "a/b", to = "c/d", margin = 0.0 }'),
    *_each("claims", TEST, 'test = { kind = "difference", of = "a/b", to = "c/d", at_most = 1.0, unit = "sec" }'),
    *_each("claims", TEST, 'not_measured = "x"\nexplained_by = [{ says = "x", test = { kind = "order", of = ["a/b", "c/d"] } }]'),
    *_each("mix", "[[requests]]", "[[reqests]]", "[[journeys]]", "rows = 5\n[[requests]]", "title = 'x'\n[[requests]]"),
    *_each("mix", 'target = "/"', 'target = "/{row.a}"', 'target = "/"\nbody = "{nme}"', 'target = "/"\nname = 5'),
]  # fmt: skip
"""Kind of file, a place in its base, and what stands there in its place: errors that a schema can express."""

NOT_SHOWN: list[tuple[str, str, str]] = [
    *_each("scenario", "[loads.ping]", '[floor]\nload = "pong"\n[loads.ping]', '[floor]\nload = "ping"\nfrom_mb = 64\nto_mb = 64\n[loads.ping]'),
    *_each("scenario", "[loads.ping]", '[capacity]\nobjective = "p50 < 5ms, p50 < 6ms"\n[loads.ping]'),
    *_each("scenario", "[loads.ping]", '[[contract]]\nid = "ping"\nsays = "x"\nsteps = []\n[loads.ping]'),
    *_step('{ target = "/", repeat = 2, concurrent = 5 }', '{ target = "/{key:5..1}" }', '{ target = "/", expect = { pattern = "[" } }'),
    *_load("connections = 1.0"),
    *_variant('base = "other"', 'env = { A = "{grpc_port}" }\nbase = "two"\n[variants.two]\ntitle = "2"\nbase = "plain"'),
    *_each("scenario", "[loads.ping]", *(f"[{one}request = {{ target = '/', expect = {{ pattern = '[' }} }}\n[loads.ping]" for one in (
        "bounds]\n", "hold]\nlevels = [1, 2]\n"))),
    *_each("stack", RUN, f'{RUN}\ngrpc_port = "free"\n[variants.two]\ntitle = "2"\nbase = "plain"\nenv = {{ GRPC_PORT = "1" }}'),
    *_each("stack", "[needs]", 'default_variants = ["other"]\n[needs]', 'sources = ["nothing/*"]\n[needs]'),
    *_each("claims", TEST, f'{TEST}\n[[claims]]\nid = "A1"\nsays = "x"\nnot_measured = "x"'),
]  # fmt: skip
"""Errors that need two places of a file, the engine or the disk: they are the reader's and the check's alone."""
