"""A real broker is fetched, formatted, started, filled, questioned, killed, brought back and ended."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, TopicPartition

from touchstone.dependency.base import DependencyContext, DependencyError, UnknownActError
from touchstone.dependency.kafka import Kafka
from touchstone.dependency.kafka.spread import spread
from touchstone.toolchain.cache import cache_folder
from touchstone.vocabulary.dependency import DEPENDENCIES

SETTINGS = {"topic": "benchmark-topic", "partitions": 5, "group": "relay"}


def context_in(folder: Path, **options: str) -> DependencyContext:
    (folder / "log").mkdir(exist_ok=True)
    cpus = (max(os.sched_getaffinity(0)),)
    return DependencyContext(folder / "data", folder / "log", cpus, Path("engine"), cache_folder(), options)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    context = context_in(tmp_path_factory.mktemp("kafka"))
    if lacking := Kafka.missing(context):
        pytest.skip(lacking)
    kafka = Kafka("topic", "KAFKA_BOOTSTRAP", SETTINGS, context)
    kafka.start()
    yield kafka
    kafka.stop()


@pytest.fixture
def kafka(started: Kafka) -> Kafka:
    started.reset({})
    return started


def consumer(kafka: Kafka) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": kafka.environment()["KAFKA_BOOTSTRAP"],
            "group.id": "relay",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 10_000,
            "log_level": 0,
        }
    )


def read(client: Consumer, count: int) -> list[tuple[int, str]]:
    """A number of messages, as (partition, text)."""
    found: list[tuple[int, str]] = []
    while len(found) < count:
        batch = client.consume(count - len(found), timeout=20)
        assert batch, f"only {len(found)} of {count} messages came"
        for message in batch:
            assert message.error() is None
            partition, value = message.partition(), message.value()
            assert partition is not None and value is not None
            found.append((partition, value.decode()))
    return found


@pytest.mark.parametrize("how", ["even", "keyless", "skewed"])
def test_every_message_gets_a_partition(how: str) -> None:
    drawn = Counter(spread(how, 1000, 5, seed=7))
    assert drawn.total() == 1000
    assert set(drawn) == set(range(5))
    assert spread(how, 1000, 5, seed=7) == spread(how, 1000, 5, seed=7)


def test_a_service_gets_the_address_in_one_and_in_parts(kafka: Kafka) -> None:
    parts = kafka.address()
    assert tuple(parts) == DEPENDENCIES["kafka"].address
    assert kafka.environment() == {"KAFKA_BOOTSTRAP": f"{parts['host']}:{parts['port']}"}


def test_spreads_are_what_they_are_called() -> None:
    assert set(Counter(spread("even", 1000, 5, 1)).values()) == {200}
    keyless = Counter(spread("keyless", 1000, 5, 1))
    assert max(keyless.values()) > 200
    skewed = Counter(spread("skewed", 1400, 5, 1))
    assert skewed == {0: 1000, 1: 100, 2: 100, 3: 100, 4: 100}


@pytest.mark.slow
def test_messages_lie_in_their_partition_in_the_order_of_their_ids(kafka: Kafka) -> None:
    assert kafka.produce(1000) == dict.fromkeys(range(5), 200)
    assert kafka.ask("end") == 1000
    assert kafka.ask("end:3") == 200
    client = consumer(kafka)
    client.subscribe(["benchmark-topic"])
    try:
        found = read(client, 1000)
    finally:
        client.close()
    for partition in range(5):
        texts = [json.loads(text) for place, text in found if place == partition]
        assert texts == [{"id": f"{partition}-{n}", "partition": partition} for n in range(200)]


@pytest.mark.slow
def test_committed_offsets_and_members_are_the_groups_own(kafka: Kafka) -> None:
    kafka.produce(10)
    assert kafka.ask("lag") == 10
    client = consumer(kafka)
    client.subscribe(["benchmark-topic"])
    read(client, 10)
    assert kafka.ask("members") == 1
    client.commit(offsets=[TopicPartition("benchmark-topic", 3, 2)], asynchronous=False)
    assert kafka.ask("committed") == 2
    assert kafka.ask("committed:3") == 2
    assert kafka.ask("lag") == 8
    client.close()
    assert kafka.ask("members") == 0


@pytest.mark.slow
def test_a_reset_makes_topic_and_group_anew(kafka: Kafka) -> None:
    kafka.produce(20)
    client = consumer(kafka)
    client.subscribe(["benchmark-topic"])
    read(client, 20)
    client.commit(asynchronous=False)
    client.close()
    assert kafka.reset({}) == []
    assert [kafka.ask(question) for question in ("end", "committed", "members")] == [0, 0, 0]
    assert kafka.produce(5) == dict.fromkeys(range(5), 1)


@pytest.mark.slow
def test_a_group_that_is_still_active_is_said(kafka: Kafka) -> None:
    kafka.produce(5)
    client = consumer(kafka)
    client.subscribe(["benchmark-topic"])
    read(client, 5)
    try:
        leftovers = kafka._made().remake(0.5)
    finally:
        client.close()
    assert leftovers == ["group relay still has 1 members of an earlier client"]


@pytest.mark.slow
def test_what_was_taken_survives_a_kill(kafka: Kafka) -> None:
    kafka.produce(100)
    (pid,) = kafka.pids()
    kafka.act("kill", {})
    assert not psutil.pid_exists(pid)
    assert kafka.pids() == []
    kafka.act("start", {})
    assert kafka.ask("end") == 100
    kafka.act("produce", {"messages": 50})
    assert kafka.ask("end") == 150


@pytest.mark.slow
def test_a_broker_that_was_stopped_is_started_by_the_next_reset(kafka: Kafka) -> None:
    kafka.act("stop", {})
    assert kafka.reset({}) == []
    assert kafka.ask("end") == 0


@pytest.mark.slow
def test_poison_is_no_json_and_has_no_id(kafka: Kafka) -> None:
    kafka.act("poison", {"partition": 2})
    client = consumer(kafka)
    client.subscribe(["benchmark-topic"])
    try:
        ((partition, text),) = read(client, 1)
    finally:
        client.close()
    assert partition == 2
    with pytest.raises(ValueError):
        json.loads(text)
    assert kafka.ask("end") == 1


@pytest.mark.slow
def test_an_outside_broker_is_used_and_never_stopped(kafka: Kafka, tmp_path: Path) -> None:
    outside = Kafka(
        "topic", "KAFKA_BOOTSTRAP", SETTINGS, context_in(tmp_path, kafka=kafka.environment()["KAFKA_BOOTSTRAP"])
    )
    assert Kafka.missing(outside.context) is None
    outside.start()
    outside.reset({})
    outside.act("produce", {"messages": 5})
    assert outside.ask("end") == 5
    for act in ("stop", "kill"):
        with pytest.raises(DependencyError, match="that it did not start"):
            outside.act(act, {})
    outside.stop()
    assert kafka.pids()
    assert kafka.reset({}) == []


@pytest.mark.slow
def test_what_it_does_not_know_is_said(kafka: Kafka) -> None:
    with pytest.raises(UnknownActError, match="stop, start, kill, produce, poison"):
        kafka.act("explode", {})
    for question in ("size", "end:x"):
        with pytest.raises(DependencyError, match="cannot be asked"):
            kafka.ask(question)
    with pytest.raises(DependencyError, match="even, keyless, skewed"):
        kafka.act("produce", {"spread": "thin"})
    with pytest.raises(DependencyError, match="cannot change colour"):
        kafka.reset({"colour": "red"})


@pytest.mark.slow
def test_settings_name_the_broker(kafka: Kafka) -> None:
    settings = kafka.read_settings()
    assert settings["partitions"] == 5
    assert settings["broker"].startswith("Apache Kafka 4.")


def test_an_outside_broker_that_does_not_answer_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = Kafka("topic", "KAFKA_BOOTSTRAP", SETTINGS, context_in(tmp_path, kafka="127.0.0.1:1"))
    with pytest.raises(DependencyError, match=r"127\.0\.0\.1:1, does not answer"):
        kafka.start()
