"""Consumers that do not do the work of a drain, in front of a real broker."""

from typing import Any

from tests.faults.setup import Server, Setup

TOPIC: dict[str, Any] = {
    "dependencies": {
        "topic": {
            "kind": "kafka",
            "env": "KAFKA_BOOTSTRAP",
            "settings": {"topic": "bench", "partitions": 5, "group": "bench"},
        },
        "downstream": {"kind": "echo", "env": "DOWNSTREAM_URL", "settings": {"delay_ms": 1}},
    },
    "drain": {
        "dependency": "topic",
        "downstream": "downstream",
        "messages": [500],
        "stats_target": "/stats",
        "within_s": 12.0,
    },
}


PING = {"requests": [{"name": "ping", "target": "/ping", "expect": {"body": "pong"}}]}
"""What a consumer answers: each load of a scenario is asked once before anything is measured."""


def drained(id: str, says: str, *expects: str, **knobs: int) -> Setup:
    """A topic of 500 messages in five partitions, and a consumer with these knobs."""
    servers = (Server(knobs, program="consumer"),)
    return Setup(id, says, expects, planted="server", servers=servers, scenario=TOPIC, load=PING, phases=("drain",))


DRAINS: tuple[Setup, ...] = (
    drained("skips-messages", "every 100th message is committed and never worked on", "messages-lost", skip_every=100),
    drained("works-twice", "every 100th message is worked on two times", "messages-doubled", twice_every=100),
    drained("shuffles", "messages of a batch are worked on in no order", "order-broken", shuffle=1),
    drained(
        "counts-itself",
        "offsets are committed and messages counted by the service itself; nothing reaches the downstream",
        "messages-lost|phase-failed",
        commit_only=1,
    ),
    drained("never-commits", "all messages are worked on, and none is committed", "work-not-done", never_commit=1),
    drained("stops-early", "the consumer stops after 300 messages", "messages-lost", stop_after=300),
)
