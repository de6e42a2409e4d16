"""A whole search on a real server: what goes before a load, what the load sends, and the null server next to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from touchstone.bench.base import Bench, Built
from touchstone.engine.locate import engine_path
from touchstone.manifest.catalogue import Contender, find_scenario, select_contenders
from touchstone.manifest.load import Load
from touchstone.manifest.scenario import Capacity
from touchstone.phase.capacity.phase import CapacityPhase
from touchstone.record.sample import TARE

from .server import server
from .test_peak import bench_of

_KEEPER = server("""
kept = set()


def answer(method, target):
    if method == b"POST":
        kept.add(target)
    found = target == b"/ping" or target in kept
    if target.startswith(b"/once/"):
        found = not found
        kept.add(target)
    return (b"200 OK", b"pong") if found else (b"404 Not Found", b"none")
""")

_MORTAL = server("""
lives = os.environ["LIVES"] + "/first"
if os.path.exists(lives):
    raise SystemExit("there is no second life")
asked = 0


def answer(method, target):
    global asked
    asked += 1
    if asked > 100:
        open(lives, "w").close()
        os._exit(3)
    return b"200 OK", b"pong"
""")

_CLOSING = server("""
import gc
asked = 0


def answer(method, target):
    global asked
    asked += 1
    if asked == 1500:
        for one in gc.get_objects():
            if isinstance(one, asyncio.Server):
                one.close()
    return b"200 OK", b"pong"
""")

_KEPT = {"name": "kept", "target": "/keep/{fresh}", "expect": {"body": "pong"}}
_SENT: dict[str, dict[str, Any]] = {
    "mix": {"requests": [_KEPT]},
    "numbers": {"requests": [{"name": "once", "target": "/once/{counter}", "expect": {"body": "pong"}}]},
    "journeys": {"journeys": [{"name": "look", "steps": [_KEPT, _KEPT]}]},
}


def keeper(tmp_path: Path, load: Load) -> tuple[Bench, Contender]:
    """A bench for short searches under this load, and a service that keeps posted values and each number once."""
    bench = bench_of(tmp_path)
    (contender,) = select_contenders(find_scenario(str(tmp_path / "demo"), tmp_path), [], exhibits=False)
    script = tmp_path / "keeper.py"
    script.write_text(_KEEPER)
    command = ("/usr/bin/env", "python3", str(script))
    built = Built(tmp_path / "demo/slow", (), command, {"PATH": "/usr/bin:/bin"})
    capacity = Capacity(objective="p50 < 1s, errors < 1%")
    scenario = bench.scenario.model_copy(update={"capacity": capacity})
    short = replace(bench.profile, trial_s=0.6, trials=5, warm_least_s=0.3, warm_most_s=0.6, slice_s=0.1, laps=2)
    return replace(
        bench, builds={contender.name: built}, scenario=scenario, loads={"load": load}, profile=short
    ), contender


@pytest.mark.parametrize("kind", _SENT)
def test_a_search_finds_what_its_preparation_made(tmp_path: Path, kind: str) -> None:
    prepare = [{"method": "POST", "target": "/keep/{fresh}", "expect": {"body": "pong"}}]
    load = Load.model_validate({"title": "Kept", "connections": 4, "prepare": prepare, **_SENT[kind]})
    bench, contender = keeper(tmp_path, load)
    found = {s.contender: s for samples in CapacityPhase().together(bench, [contender], 1) for s in samples}
    for sample in found.values():
        assert sample.failure is None, sample.failure
        assert sample.figures["capacity"] > 0, sample.not_measured
    own = found[contender.name].capacity
    assert own is not None
    assert any(trial.held for trial in own.trials), [trial.why for trial in own.trials]
    assert [point.errors for point in own.at_rates] == [0, 0, 0]
    assert found.keys() == {contender.name, TARE}


def test_one_that_dies_and_does_not_start_again_fails_alone(tmp_path: Path) -> None:
    ping = {"name": "ping", "target": "/ping", "expect": {"body": "pong"}}
    load = Load.model_validate({"title": "Ping", "connections": 4, "requests": [ping]})
    bench, sound = keeper(tmp_path, load)
    mortal = Contender(sound.stack.model_copy(update={"name": "mortal"}), sound.variant_name)
    script, lives = tmp_path / "mortal.py", tmp_path / "lives"
    script.write_text(_MORTAL)
    lives.mkdir()
    command = ("/usr/bin/env", "python3", str(script))
    env = {"PATH": "/usr/bin:/bin", "LIVES": str(lives)}
    built = Built(tmp_path / "demo/slow", (), command, env)
    bench = replace(bench, builds={**bench.builds, mortal.name: built})
    found = {s.contender: s for samples in CapacityPhase().together(bench, [sound, mortal], 1) for s in samples}
    lost = found[mortal.name].failure
    assert lost is not None
    assert "exited with code 3 under its closed loop, and the process in its place failed" in lost.what
    assert "there is no second life" in lost.tail
    assert found[sound.name].failure is None, found[sound.name].failure
    assert found[sound.name].figures["capacity"] > 0
    assert found.keys() == {sound.name, mortal.name, TARE}


def test_one_that_does_not_speak_the_protocol_of_the_load_fails_alone(tmp_path: Path) -> None:
    ping = {"name": "ping", "target": "/ping"}
    h2c = {"title": "Ping", "protocol": "h2c", "connections": 2, "streams": 2, "requests": [ping]}
    bench, old = keeper(tmp_path, Load.model_validate(h2c))
    new = Contender(old.stack.model_copy(update={"name": "new"}), old.variant_name)
    command = (str(engine_path()), "null", "--host={host}", "--port={port}")
    built = Built(tmp_path / "demo/slow", (), command, {"PATH": "/usr/bin:/bin"})
    bench = replace(bench, builds={**bench.builds, new.name: built})
    found = {s.contender: s for samples in CapacityPhase().together(bench, [old, new], 1) for s in samples}
    lost = found[old.name].failure
    assert lost is not None
    assert "HTTP/1.1" in lost.what
    assert found[old.name].figures == {}
    for name in (new.name, TARE):
        assert found[name].failure is None, found[name].failure
        assert found[name].figures["capacity"] > 0
    assert found[new.name].figures["capacity_cpu_50"] > 0


def test_one_that_accepts_no_more_connections_fails_alone(tmp_path: Path) -> None:
    ping = {"name": "ping", "target": "/ping", "expect": {"body": "pong"}}
    load = Load.model_validate({"title": "Ping", "connections": 4, "requests": [ping]})
    bench, sound = keeper(tmp_path, load)
    closing = Contender(sound.stack.model_copy(update={"name": "closing"}), sound.variant_name)
    script = tmp_path / "closing.py"
    script.write_text(_CLOSING)
    built = Built(tmp_path / "demo/slow", (), ("/usr/bin/env", "python3", str(script)), {"PATH": "/usr/bin:/bin"})
    bench = replace(bench, builds={**bench.builds, closing.name: built})
    found = {s.contender: s for samples in CapacityPhase().together(bench, [sound, closing], 1) for s in samples}
    lost = found[closing.name].failure
    assert lost is not None
    assert "connect" in lost.what
    for name in (sound.name, TARE):
        assert found[name].failure is None, found[name].failure
        assert found[name].figures["capacity"] > 0
