"""The settings, from the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Config:
    host: str
    port: int
    database: Path
    pool: int
    """Connections to the database, in all workers together."""
    busy_timeout_s: float

    @classmethod
    def from_env(cls, env: Mapping[str, str] = os.environ) -> "Config":
        return cls(
            host=env.get("HOST") or "127.0.0.1",
            port=_positive(env, "PORT", 8080),
            database=Path(env.get("DATABASE_PATH") or "users.db"),
            pool=_positive(env, "DATABASE_POOL", 10),
            busy_timeout_s=_positive(env, "DATABASE_BUSY_TIMEOUT_MS", 10_000) / 1000,
        )

    @property
    def workers(self) -> int:
        """A process for each CPU, and no more of them than there may be connections."""
        return min(len(os.sched_getaffinity(0)), self.pool)

    @property
    def worker_pool(self) -> int:
        """A worker's share of the connections."""
        return self.pool // self.workers


def _positive(env: Mapping[str, str], name: str, otherwise: int) -> int:
    text = env.get(name) or str(otherwise)
    if not text.isdecimal() or int(text) < 1:
        raise SystemExit(f"{name} is {text!r}: give a whole number above 0")
    return int(text)
