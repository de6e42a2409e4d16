"""The settings, from the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    host: str
    port: int
    read_timeout_s: float
    idle_timeout_s: float
    database_url: str
    database_timeout_s: float
    pool: int
    """Sessions with the database, in all workers together."""

    @classmethod
    def from_env(cls, env: Mapping[str, str] = os.environ) -> "Config":
        if not env.get("DATABASE_URL"):
            raise SystemExit("DATABASE_URL is not set: give postgres://user:password@host:port/database")
        return cls(
            host=env.get("HOST") or "127.0.0.1",
            port=_positive(env, "PORT", 8080),
            read_timeout_s=_positive(env, "HTTP_READ_TIMEOUT_MS", 10_000) / 1000,
            idle_timeout_s=_positive(env, "HTTP_IDLE_TIMEOUT_MS", 60_000) / 1000,
            database_url=env["DATABASE_URL"],
            database_timeout_s=_positive(env, "DATABASE_TIMEOUT_MS", 10_000) / 1000,
            pool=_positive(env, "DATABASE_POOL", 8),
        )

    @property
    def workers(self) -> int:
        """A process for each CPU, and no more of them than there may be sessions."""
        return min(len(os.sched_getaffinity(0)), self.pool)

    @property
    def worker_pool(self) -> int:
        """A worker's share of the sessions."""
        return self.pool // self.workers


def _positive(env: Mapping[str, str], name: str, otherwise: int) -> int:
    text = env.get(name) or str(otherwise)
    if not text.isdecimal() or int(text) < 1:
        raise SystemExit(f"{name} is {text!r}: give a whole number above 0")
    return int(text)
