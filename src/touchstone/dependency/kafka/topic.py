"""One topic and one consumer group: made fresh, filled by explicit partition, and their offsets read."""

from __future__ import annotations

import ctypes
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._listoffsets import OffsetSpec
from confluent_kafka.cimpl import NewTopic

from touchstone.dependency.base import DependencyError

Found = TypeVar("Found")

_LOGGER = logging.getLogger("touchstone.kafka")
_LOGGER.addHandler(logging.NullHandler())
_LOGGER.propagate = False
_PATIENCE_S = 20.0
_PASSING = {
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    # The client may know the topic of the same name that was removed, of a later epoch than the new one's.
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
}
"""What a broker says of a topic or a group that it has just made or is loading, and what a broken connection says."""


@dataclass
class Topic:
    """A topic with its group at a broker. Every call raises DependencyError if the broker does not do it."""

    owner: str
    address: str
    name: str
    partitions: int
    group: str
    produced: dict[int, int] = field(default_factory=dict)
    """Messages with an id, by partition, since the topic was made."""

    def __post_init__(self) -> None:
        self._client_of_admin: AdminClient | None = None

    @property
    def _admin(self) -> AdminClient:
        if self._client_of_admin is None:
            self._client_of_admin = AdminClient(self._client() | {"socket.timeout.ms": 10_000}, logger=_LOGGER)
        return self._client_of_admin

    def disconnect(self, *, broken: bool) -> None:
        """Let go of the broker before it ends, or after it has: the next call connects again."""
        admin, self._client_of_admin = self._client_of_admin, None
        if admin is not None and broken:
            # librdkafka's destructor may wait for ever for the thread of a broker that died with a request in flight
            # (seen with 2.16 by a stack trace). Such a client is never destroyed; a run has few of them.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(admin))

    def answers(self) -> bool:
        """Whether the broker tells its metadata, and itself is part of them."""
        try:
            return bool(self._admin.list_topics(timeout=1).brokers)
        except KafkaException:
            return False

    def remake(self, patience_s: float) -> list[str]:
        """Recreate the topic and remove the group; return leftovers in words."""
        leftovers = self._remove_group(patience_s)
        self._remove_topic()
        new = NewTopic(self.name, num_partitions=self.partitions, replication_factor=1)
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                self._admin.create_topics([new], operation_timeout=10)[self.name].result()
                break
            except KafkaException as error:
                # The name is free only when the deletion has reached every part of the broker.
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS or time.monotonic() > until:
                    raise self._failed("the topic could not be made", error) from error
                time.sleep(0.05)
        while not self._has_leaders():
            if time.monotonic() > until:
                raise self._failed("the fresh topic's partitions have no leader", "")
            time.sleep(0.02)
        self.ends()
        self.produced = dict.fromkeys(range(self.partitions), 0)
        return leftovers

    def remove(self) -> None:
        """Remove topic and group, as far as the broker lets."""
        with suppress(DependencyError):
            self._remove_group(0.0)
            self._remove_topic()

    def produce(self, partitions: Sequence[int]) -> None:
        """A message for each entry, into that partition: `{"id": "2-17", "partition": 2}`, from 0 up in each."""
        numbered: list[tuple[int, str]] = []
        for partition in partitions:
            number = self.produced.get(partition, 0)
            numbered.append((partition, json.dumps({"id": f"{partition}-{number}", "partition": partition})))
            self.produced[partition] = number + 1
        self._send(numbered)

    def produce_raw(self, partition: int, text: str) -> None:
        """One message as it stands; it has no id."""
        self._send([(partition, text)])

    def ends(self) -> dict[int, int]:
        """The next offset of each partition."""
        asked = {TopicPartition(self.name, p): OffsetSpec.latest() for p in range(self.partitions)}  # type: ignore[no-untyped-call]

        def read() -> dict[int, int]:
            found = self._admin.list_offsets(asked, request_timeout=5)
            return {place.partition: int(future.result().offset) for place, future in found.items()}

        return self._patiently("the ends of the partitions cannot be read", read)

    def committed(self) -> dict[int, int]:
        """The group's committed offset of each partition; 0 where it has committed nothing."""
        asked = [TopicPartition(self.name, p) for p in range(self.partitions)]

        def read() -> dict[int, int]:
            wanted = [ConsumerGroupTopicPartitions(self.group, asked)]
            try:
                result = self._admin.list_consumer_group_offsets(wanted, request_timeout=5)[self.group].result()
            except KafkaException as error:
                return _unless_absent(error, {})
            return {place.partition: place.offset for place in result.topic_partitions}

        found = self._patiently("the group's offsets cannot be read", read)
        return {partition: max(0, found.get(partition, 0)) for partition in range(self.partitions)}

    def members(self) -> int:
        """Members of the group now."""

        def read() -> int:
            try:
                return len(
                    self._admin.describe_consumer_groups([self.group], request_timeout=5)[self.group].result().members
                )
            except KafkaException as error:
                return _unless_absent(error, 0)

        return self._patiently("the group cannot be described", read)

    def _patiently(self, what: str, call: Callable[[], Found]) -> Found:
        """Ask, and again while the broker is only on its way to knowing the answer."""
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                return call()
            except KafkaException as error:
                if error.args[0].code() not in _PASSING or time.monotonic() > until:
                    raise self._failed(what, error) from error
            time.sleep(0.02)

    def _client(self) -> dict[str, Any]:
        return {
            "bootstrap.servers": self.address,
            "reconnect.backoff.ms": 50,
            "reconnect.backoff.max.ms": 500,
            "broker.address.family": "v4",
        }

    def _send(self, messages: Sequence[tuple[int, str]]) -> None:
        failures: list[str] = []

        def delivered(error: KafkaError | None, _message: object) -> None:
            if error is not None:
                failures.append(str(error))

        # Idempotence keeps the order within a partition and every message single when a send has to be repeated.
        producer = Producer(
            self._client() | {"enable.idempotence": True, "linger.ms": 5, "message.timeout.ms": 20_000}, logger=_LOGGER
        )
        try:
            for partition, text in messages:
                while True:
                    try:
                        producer.produce(self.name, value=text, partition=partition, on_delivery=delivered)
                        break
                    except BufferError:
                        producer.poll(0.1)
                producer.poll(0)
            left = producer.flush(30)
        except KafkaException as error:
            raise self._failed("producing failed", error) from error
        if left or failures:
            raise self._failed(f"{left + len(failures)} messages were not taken", failures[0] if failures else "")

    def _remove_group(self, patience_s: float) -> list[str]:
        """A group goes when it has no member: one whose member was killed waits for the session's end."""

        def remove() -> bool:
            try:
                self._admin.delete_consumer_groups([self.group], request_timeout=5)[self.group].result()
            except KafkaException as error:
                if error.args[0].code() != KafkaError.NON_EMPTY_GROUP:
                    return _unless_absent(error, True)
                return False
            return True

        until = time.monotonic() + patience_s
        while not self._patiently("the group could not be removed", remove):
            if time.monotonic() >= until:
                return [f"group {self.group} still has {self.members()} members of an earlier client"]
            time.sleep(0.1)
        return []

    def _remove_topic(self) -> None:
        try:
            self._admin.delete_topics([self.name], operation_timeout=10)[self.name].result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise self._failed("the topic could not be removed", error) from error

    def _has_leaders(self) -> bool:
        try:
            found: Mapping[str, Any] = self._admin.list_topics(self.name, timeout=5).topics
        except KafkaException:
            return False
        described = found.get(self.name)
        if described is None or described.error is not None or len(described.partitions) != self.partitions:
            return False
        return all(partition.leader >= 0 for partition in described.partitions.values())

    def _failed(self, what: str, why: object) -> DependencyError:
        return DependencyError(
            f"{what}: {why}".rstrip(": "),
            where=f"dependency {self.owner}, topic {self.name} at {self.address}",
            fix="check whether the broker is down; its log is kept with the results",
        )


def _unless_absent(error: KafkaException, answer: Found) -> Found:
    """The answer where the error says that there is no such group; else the error."""
    if error.args[0].code() == KafkaError.GROUP_ID_NOT_FOUND:
        return answer
    raise error
