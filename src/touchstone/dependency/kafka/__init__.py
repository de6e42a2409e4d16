"""Apache Kafka as a dependency: fetched, formatted, started in KRaft mode, reset, filled, questioned, stopped."""

from touchstone.dependency.kafka.dependency import Kafka

__all__ = ["Kafka"]
