"""Functions of scripts, by names that are the same for two contenders."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from touchstone.bench.base import Built
from touchstone.phase.profile import naming_runtime
from touchstone.phase.profile.naming_runtime import remove_traces
from touchstone.phase.profile.perf_map import PerfMaps, last_entries, perf_map_of
from touchstone.phase.profile.profiler import folded

HOME = Path("/work/app")


def runtime(*programs: str) -> naming_runtime.NamingRuntime | None:
    members = [SimpleNamespace(pid=pid, exe=lambda path=path: path) for pid, path in enumerate(programs)]
    process: Any = SimpleNamespace(tree=lambda: members)
    return naming_runtime.naming_runtime(process)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("JS:*handle /work/app/src/server.js:5:34", "./src/server.js:handle"),
        ("JS:~handle file:///work/app/src/server.mjs:5:34", "./src/server.mjs:handle"),
        ("JS:^ /work/app/server.js:12:3", "./server.js:(anonymous:12)"),
        ("JS:+get url /work/lib/shared/url.js:1:1", "./shared/url.js:get url"),
        ("JS:*send /work/app/node_modules/fastify/lib/reply.js:10:2", "fastify/lib/reply.js:send"),
        ("JS:*end node:_http_outgoing:1034:45", "node:_http_outgoing:end"),
        # V8 13 and later: Node.js 24.21 and 26.10.
        ("JS:*'handle /work/app/src/server.js:5:34", "./src/server.js:handle"),
        ("JS:+'handle /work/app/src/server.js:5:34", "./src/server.js:handle"),
        ("JS:o*handle /work/app/src/server.js:5:34", "./src/server.js:handle"),
        ("JS:o+ /work/app/server.js:12:3", "./server.js:(anonymous:12)"),
        ("JS:~o /work/app/server.js:5:29", "./server.js:o"),
        ("JS:+'it's /work/app/server.js:5:70", "./server.js:it's"),
        ("JS:+'get url /work/lib/shared/url.js:1:1", "./shared/url.js:get url"),
        ("RegExp:[a-z]+", "RegExp:[a-z]+"),
        ("RegExp.> src: '[a-z]+' flags: 'g'", "RegExp:[a-z]+"),
        ("RegExp.< src: 'it's (\\d+)' flags: ''", "RegExp:it's (\\d+)"),
        ("Builtins_LoadIC", "Builtins_LoadIC"),
    ],
)
def test_a_function_of_javascript_is_its_place_and_its_name(symbol: str, name: str) -> None:
    found = runtime("/bin/sh", "/opt/node/bin/node")
    assert found is not None
    assert found.names(HOME)(symbol) == name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        # Deno 2.9.6.
        ("JS:+'m file:///work/app/server.ts:1:44", "./server.ts:m"),
        ("JS:o*loop file:///work/app/server.ts:7:18", "./server.ts:loop"),
        ("JS:^wrapConsole ext:core/01_core.js:753:23", "ext:core/01_core.js:wrapConsole"),
        ("JS:*send file:///cache/npm/registry.example/fastify/5.1.0/lib/reply.js:1:2", "fastify/lib/reply.js:send"),
        ("JS:*f file:///cache/npm/registry.example/@a/b/1.0.0/c.js:1:2", "@a/b/c.js:f"),
    ],
)
def test_a_function_of_deno_is_its_place_and_its_name(symbol: str, name: str) -> None:
    found = runtime("/opt/deno")
    assert found is not None
    assert found.names(HOME)(symbol) == name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("py::price:/work/app/main.py", "./main.py:price"),
        ("py::Router.app:/venv/lib/python3.12/site-packages/starlette/routing.py", "starlette/routing.py:Router.app"),
        ("py::Handle._run:/usr/lib/python3.12/asyncio/events.py", "python:asyncio/events.py:Handle._run"),
        ("py::<module>:<frozen runpy>", "<frozen runpy>:<module>"),
        ("_PyEval_EvalFrameDefault", "_PyEval_EvalFrameDefault"),
    ],
)
def test_a_function_of_python_is_its_place_and_its_name(symbol: str, name: str) -> None:
    found = runtime("/usr/bin/python3.12")
    assert found is not None
    assert found.names(HOME)(symbol) == name


def test_a_runtime_is_asked_next_to_what_the_contender_asks(tmp_path: Path) -> None:
    node = runtime("/usr/bin/node")
    assert node is not None
    built = Built(work=tmp_path, artifacts=(), argv=("node",), env={"NODE_OPTIONS": "--no-warnings", "A": "1"})
    assert node.asked(built).env == {"NODE_OPTIONS": f"--no-warnings {node.asks}", "A": "1"}
    assert node.asked(replace(built, env={})).env == {"NODE_OPTIONS": node.asks}
    deno = runtime("/usr/bin/deno")
    assert deno is not None
    given = replace(built, env={"DENO_V8_FLAGS": "--max-old-space-size=99"})
    assert deno.asked(given).env == {"DENO_V8_FLAGS": f"--max-old-space-size=99,{deno.asks}"}


def test_a_profile_of_scripts_without_their_functions_says_why() -> None:
    old, new = runtime("/usr/bin/python3.11"), runtime("/usr/bin/python3.13")
    assert old is not None
    assert new is not None
    assert not old.asks
    nameless = folded([(["python3", "_PyEval_EvalFrameDefault", "PyObject_Malloc"], 9), (["python3", "./a.py:f"], 1)])
    assert "3.12" in (old.unseen_in(nameless) or "")
    assert "frame pointers" in (new.unseen_in(nameless) or "")
    assert new.unseen_in(folded([(["python3", "./a.py:f", "PyObject_Malloc"], 9)])) is None
    assert runtime("/usr/bin/java", "/work/app/server") is None


def test_the_last_that_was_put_at_an_address_is_there() -> None:
    text = "1000 100 first\n1080 40 second\n2000 10 apart\n1200 20 third\n10f0 20 fourth\nzz\n3000 1"
    starts, behind, names = last_entries(text)
    assert names == ["second", "fourth", "third", "apart"]
    assert starts == [0x1080, 0x10F0, 0x1200, 0x2000]
    assert behind == [0x10C0, 0x1110, 0x1220, 0x2010]


def test_a_map_is_read_and_removed_with_the_runtimes_log(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    perf_map_of(ended.pid).write_text("1000 10 JS:*a /x/a.js:1:1\n")
    log = tmp_path / f"isolate-0x1-{ended.pid}-v8.log"
    log.touch()
    maps = PerfMaps({ended.pid, 1})
    remove_traces({ended.pid}, tmp_path)
    assert maps.name(ended.pid, 0x100F) == "JS:*a /x/a.js:1:1"
    assert maps.name(ended.pid, 0x1010) is None
    assert maps.name(1, 0x1000) is None
    assert not log.exists()
    assert not perf_map_of(ended.pid).exists()
