"""The dependency `kafka`: one broker a run, a fresh topic and group for each start of a contender."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from touchstone.dependency.base import Dependency, DependencyContext, DependencyError, UnknownActError
from touchstone.dependency.kafka.broker import OutsideBroker, OwnBroker
from touchstone.dependency.kafka.jars import missing
from touchstone.dependency.kafka.spread import EVEN, SPREADS, spread
from touchstone.dependency.kafka.topic import Topic

_GROUP_GRACE_S = 15.0
"""How long the group of a contender that has just ended may stay active: a killed member's session lasts 10 s."""


class Kafka(Dependency):
    """Settings: `topic`, `partitions` (5), `group`. The service gets the broker's address.

    Questions: `committed`, `end`, `lag` (end less committed), each also for one partition (`end:3`), and `members`.
    Acts: `stop`, `start`, `kill`; `produce` (with `messages`, and `spread`: even, keyless or skewed) and `poison` (with
    `partition` and `text`), a message that is not JSON.
    """

    kind: ClassVar[str] = "kafka"
    divisible = True
    acts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "stop": (),
        "start": (),
        "kill": (),
        "produce": ("messages", "spread"),
        "poison": ("partition", "text"),
    }

    @classmethod
    def wrong_settings(cls, settings: dict[str, Any], scenario: Path) -> list[tuple[str, str]]:
        """Unknown keys, and values of another type."""
        known: dict[str, type] = {"topic": str, "partitions": int, "group": str}
        found = [(key, f"a topic has no setting {key!r}") for key in settings if key not in known]
        for key, wanted in known.items():
            value = settings.get(key)
            if value is not None and (isinstance(value, bool) or not isinstance(value, wanted) or value in ("", 0)):
                found.append((key, f"{value!r} is not {'a number above 0' if wanted is int else 'a name'}"))
        if isinstance(settings.get("partitions"), int) and settings["partitions"] < 0:
            found.append(("partitions", f"{settings['partitions']} is not a number above 0"))
        return found

    @classmethod
    def wrong_query(cls, query: str, settings: dict[str, Any]) -> str | None:
        """Whether it is one of the questions, of one partition or of all."""
        what, colon, partition = query.partition(":")
        if query == "members" or (what in ("committed", "end", "lag") and (not colon or partition.isdecimal())):
            return None
        return f"Kafka cannot be asked {query!r}"

    def __init__(self, name: str, env: str, settings: dict[str, Any], context: DependencyContext) -> None:
        super().__init__(name, env, settings, context)
        outside = context.options.get("kafka", "")
        self._broker = OutsideBroker(name, outside) if outside else OwnBroker(name, context)
        self._topic: Topic | None = None

    @classmethod
    def missing(cls, context: DependencyContext) -> str | None:
        """What must be installed, and how. None if there is a broker or one can be run."""
        return None if context.options.get("kafka") else missing(context)

    def start(self) -> None:
        """Format and start a broker of touchstone's own, or greet the outside one."""
        try:
            self._broker.create()
            self._topic = Topic(
                owner=self.name,
                address=self._broker.address,
                name=str(self.settings.get("topic", "benchmark-topic")),
                partitions=int(self.settings.get("partitions", 5)),
                group=str(self.settings.get("group", "relay")),
            )
            self._broker.start(self._topic.answers)
        except BaseException:
            self._broker.remove()
            raise

    def part(self) -> KafkaPart:
        """The same topic: while loads run in slices it holds no message, and nobody is given any."""
        return KafkaPart(self)

    def reset(self, settings: dict[str, Any]) -> list[str]:
        """An empty topic, and no group: one that is still active is waited for, and said if it does not go."""
        if unknown := set(settings) - set(self.settings):
            raise DependencyError(
                f"a load cannot change {', '.join(sorted(unknown))} of the topic", where=f"dependency {self.name}"
            )
        topic = self._made()
        self._start(topic)
        topic.partitions = int((self.settings | settings).get("partitions", 5))
        return topic.remake(_GROUP_GRACE_S)

    def address(self) -> dict[str, str]:
        """The address to begin from; host and port are those of the first broker."""
        host, port = self.reached_at()
        whole = f"{host}:{port}" if self.relay else self._broker.address
        return {"bootstrap": whole, "url": whole, "host": host, "port": port}

    def listens_at(self) -> tuple[str, str]:
        """Host and port of the first broker."""
        host, _, port = self._broker.address.partition(",")[0].rpartition(":")
        return host, port

    def relayed_to(self) -> tuple[str, str]:
        """Host and port of the listener that gives out the relay's address. Raises DependencyError without one."""
        return self._broker.relayed_at()

    def ask(self, query: str) -> int | float | str:
        """An offset, summed over the partitions or of one, or the number of members."""
        topic = self._up()
        what, _, partition = query.partition(":")
        questions: dict[str, Callable[[], dict[int, int]]] = {
            "committed": topic.committed,
            "end": topic.ends,
            "lag": lambda: self._lag(topic),
        }
        if query == "members":
            return topic.members()
        if what not in questions or (partition and not partition.isdecimal()):
            raise DependencyError(
                f"Kafka cannot be asked {query!r}",
                where=f"dependency {self.name}",
                fix="ask committed, end or lag, or each of one partition (`end:3`), or members",
            )
        found = questions[what]()
        return found.get(int(partition), 0) if partition else sum(found.values())

    def act(self, act: str, arguments: dict[str, Any]) -> None:
        """Take the broker away, bring it back, or put messages into the topic."""
        topic = self._made()
        if act in {"stop", "kill"}:
            topic.disconnect(broken=not self._broker.running)
            (self._broker.stop if act == "stop" else self._broker.kill)()
        elif act == "start":
            self._start(topic)
        elif act == "produce":
            self.produce(int(arguments.get("messages", 100)), str(arguments.get("spread", EVEN)))
        elif act == "poison":
            self._up().produce_raw(int(arguments.get("partition", 0)), str(arguments.get("text", "this is not JSON")))
        else:
            raise UnknownActError(
                f"dependency {self.name!r} (kafka) cannot {act!r}",
                fix=f"its acts are: {', '.join(self.acts)}",
            )

    def produce(self, messages: int, how: str = EVEN, seed: int = 1) -> dict[int, int]:
        """Put messages in; the number with an id in each partition since the reset. Ids are `partition-number`."""
        topic = self._up()
        if how not in SPREADS:
            raise DependencyError(
                f"messages cannot be spread {how!r}",
                where=f"dependency {self.name}",
                fix=f"spread is one of {', '.join(SPREADS)}",
            )
        topic.produce(spread(how, messages, topic.partitions, seed))
        return dict(topic.produced)

    def observe(self) -> dict[str, float]:
        """Offsets, members, and the broker's memory."""
        topic = self._up()
        found: dict[str, float] = {
            "committed": sum(topic.committed().values()),
            "end": sum(topic.ends().values()),
            "members": topic.members(),
        }
        memory = self._broker.memory()
        return found if memory is None else found | {"rss": memory}

    def read_settings(self) -> dict[str, Any]:
        """The topic as the broker has it, and which broker it is."""
        with suppress(DependencyError):
            topic = self._up()
            return {"partitions": len(topic.ends()), "topic": topic.name, **self._broker.described()}
        return {}

    def pids(self) -> list[int]:
        """The broker's process; none of an outside one."""
        return self._broker.pids()

    def stop(self) -> None:
        """End the broker and remove its files. At an outside one, remove touchstone's topic and group."""
        topic, self._topic = self._topic, None
        if topic is not None:
            if self._broker.outside:
                topic.remove()
            topic.disconnect(broken=not self._broker.running)
        self._broker.remove()

    def _start(self, topic: Topic) -> None:
        if not self._broker.running:
            topic.disconnect(broken=True)
            self._broker.start(topic.answers)

    def see_that_it_runs(self) -> None:
        """Raise DependencyError if the broker has ended; it is asked nothing."""
        self._up()

    def _up(self) -> Topic:
        """The topic at a broker that runs: nobody waits for the answer of one that does not."""
        topic = self._made()
        if not self._broker.running:
            raise DependencyError(
                "the broker is down", where=f"dependency {self.name}", fix="its log is kept with the results"
            )
        return topic

    def _made(self) -> Topic:
        if self._topic is None:
            raise DependencyError(f"dependency {self.name} was used before it was started")
        return self._topic

    @staticmethod
    def _lag(topic: Topic) -> dict[int, int]:
        committed = topic.committed()
        return {partition: end - committed[partition] for partition, end in topic.ends().items()}


class KafkaPart(Kafka):
    """A contender's view of a shared topic. It cannot be reset or ended separately."""

    def __init__(self, whole: Kafka) -> None:
        Dependency.__init__(self, whole.name, whole.env, whole.settings, whole.context)
        self._broker, self._topic = whole._broker, whole._topic

    def reset(self, settings: dict[str, Any]) -> list[str]:
        """Nothing: the topic was recreated for all."""
        return []

    def stop(self) -> None:
        """Nothing: the broker belongs to the run."""
