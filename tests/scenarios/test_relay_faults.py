"""What a relay does when it is ended or killed half-way, or starts before the broker: proven at the downstream.

The Go stack is built for it. `TOUCHSTONE_TEST_RELAY` names the command of another one instead.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from touchstone.dependency.base import DependencyContext
from touchstone.dependency.echo import Echo
from touchstone.dependency.kafka import Kafka
from touchstone.engine.locate import engine_path
from touchstone.failure import TouchstoneError
from touchstone.isolation.port import free_port
from touchstone.isolation.process import ServerProcess, start_process
from touchstone.phase.drain.arrival_order import ArrivalProof, prove_arrivals
from touchstone.toolchain.cache import cache_folder
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

SOURCE = Path(__file__).parents[2] / "scenarios" / "relay" / "go"
SETTINGS = {
    "DOWNSTREAM_POOL": "256",
    "DOWNSTREAM_TIMEOUT_MS": "5000",
    "KAFKA_COMMIT_EVERY": "20",
    "KAFKA_SESSION_TIMEOUT_MS": "10000",
}
PARTITIONS, COMMIT_EVERY = 5, 20

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    if named := os.environ.get("TOUCHSTONE_TEST_RELAY"):
        return shlex.split(named)
    go = find_tool("go", ">=1.26")
    if not isinstance(go, FoundTool):
        pytest.skip(str(go))
    binary = tmp_path_factory.mktemp("relay") / "relay"
    subprocess.run([str(go.path), "build", "-o", str(binary), "."], cwd=SOURCE, check=True, timeout=600)
    return [str(binary)]


@dataclass
class Rig:
    """A relay's surroundings."""

    command: list[str]
    folder: Path
    topic: Kafka
    downstream: Echo

    @contextmanager
    def service(self) -> Iterator[tuple[ServerProcess, str]]:
        """A relay that runs, and its URL; ended by force if it still runs."""
        port = free_port()
        env = SETTINGS | self.topic.environment() | self.downstream.environment()
        env |= {"HOST": "127.0.0.1", "PORT": str(port), "PATH": os.defpath}
        process = start_process(self.command, env=env, cwd=self.folder, log=self.folder / "relay.log")
        url = f"http://127.0.0.1:{port}"
        try:
            assert within(60, lambda: get(f"{url}/ping") == 200)
            yield process, url
        finally:
            if process.exited() is None:
                process.stop(0.1)

    def came(self, count: int) -> bool:
        """Whether this number of messages has reached the downstream."""
        return int(self.downstream.ask("ids:distinct")) >= count

    def proof(self, produced: dict[int, int]) -> ArrivalProof:
        """What the downstream says of them."""
        return prove_arrivals(produced, [(a.at_s, a.id) for a in self.downstream.arrivals()])


@pytest.fixture(scope="module")
def started(command: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    folder = tmp_path_factory.mktemp("relay-faults")
    try:
        engine = engine_path()
    except TouchstoneError as error:
        pytest.skip(str(error))

    def context(name: str) -> DependencyContext:
        return DependencyContext(folder / name, folder, (max(os.sched_getaffinity(0)),), engine, cache_folder())

    if lacking := Kafka.missing(context("topic")):
        pytest.skip(lacking)
    downstream = Echo("downstream", "DOWNSTREAM_URL", {"delay_ms": 10}, context("downstream"))
    settings = {"topic": "benchmark-topic", "partitions": PARTITIONS, "group": "relay"}
    topic = Kafka("topic", "KAFKA_BOOTSTRAP", settings, context("topic"))
    try:
        downstream.start()
        topic.start()
        yield Rig(command, folder, topic, downstream)
    finally:
        topic.stop()
        downstream.stop()


@pytest.fixture
def rig(started: Rig) -> Rig:
    started.downstream.reset({})
    started.topic.reset({})
    return started


def get(url: str) -> int | None:
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_nothing_is_lost_or_done_twice_on_sigterm(rig: Rig) -> None:
    produced = rig.topic.produce(500)
    with rig.service() as (process, _):
        assert within(60, lambda: rig.came(100))
        process.popen.send_signal(signal.SIGTERM)
        process.popen.wait(10)
    assert not rig.came(500)
    with rig.service():
        assert within(60, lambda: rig.came(500) and rig.topic.ask("lag") == 0)
    proof = rig.proof(produced)
    assert (proof.lost, proof.doubled, proof.out_of_order) == (0, 0, 0)


def test_nothing_is_lost_and_little_done_twice_on_sigkill(rig: Rig) -> None:
    produced = rig.topic.produce(500)
    with rig.service() as (process, _):
        assert within(60, lambda: rig.came(100))
        process.popen.kill()
        process.popen.wait(10)
    with rig.service():
        assert within(90, lambda: rig.came(500) and rig.topic.ask("lag") == 0)
    proof = rig.proof(produced)
    assert (proof.lost, proof.out_of_order) == (0, 0)
    # What is done and not committed, and the one under way.
    assert proof.doubled <= PARTITIONS * (COMMIT_EVERY + 1)


def test_a_relay_starts_before_its_broker_and_finds_it_later(rig: Rig) -> None:
    rig.topic.act("stop", {})
    with rig.service() as (process, url):
        assert get(f"{url}/api/process") == 200
        assert get(f"{url}/stats") == 200
        time.sleep(2)
        assert process.exited() is None
        rig.topic.act("start", {})
        produced = rig.topic.produce(50)
        assert within(60, lambda: rig.came(50) and rig.topic.ask("lag") == 0)
    assert rig.proof(produced).lost == 0


def test_it_ends_in_time_while_the_broker_is_away(rig: Rig) -> None:
    rig.topic.produce(500)
    with rig.service() as (process, _):
        assert within(60, lambda: rig.came(50))
        rig.topic.act("kill", {})
        process.popen.send_signal(signal.SIGTERM)
        process.popen.wait(10)
    rig.topic.act("start", {})
