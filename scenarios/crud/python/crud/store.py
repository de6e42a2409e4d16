"""The users, in PostgreSQL."""

import asyncio

import asyncpg

from crud.user import User

INSERT = "INSERT INTO users (name, email, age) VALUES ($1, $2, $3) RETURNING id"
SELECT = "SELECT id, name, email, age FROM users WHERE id = $1"
DELETE = "DELETE FROM users WHERE id = $1"

# SQLSTATE classes: connection exception, insufficient resources, a database that takes no connections, operator
# intervention.
AWAY = {"08", "53", "55", "57"}


class Store:
    """A pool of sessions. asyncpg prepares each statement once a session."""

    def __init__(self, pool: asyncpg.Pool, timeout_s: float) -> None:
        self._pool = pool
        self._timeout_s = timeout_s

    @classmethod
    async def open(cls, url: str, pool: int, timeout_s: float) -> "Store":
        """Make the pool; its sessions are opened when they are first needed, and kept."""
        return cls(
            await asyncpg.create_pool(
                url,
                min_size=0,
                max_size=pool,
                max_inactive_connection_lifetime=0,
                timeout=timeout_s,
                reset=_nothing_to_reset,
            ),
            timeout_s,
        )

    async def pass_through(self, user: User) -> tuple[int, User]:
        """Insert the user, read it back and delete it, on one session; each statement commits by itself."""
        async with asyncio.timeout(self._timeout_s), self._pool.acquire() as session:
            number = await session.fetchval(INSERT, user.name, user.email, user.age)
            row = await session.fetchrow(SELECT, number)
            await session.execute(DELETE, number)
        return row["id"], User(row["name"], row["email"], row["age"])

    async def close(self) -> None:
        await self._pool.close()


async def _nothing_to_reset(_session: asyncpg.Connection) -> None:
    """The three statements leave no state in their session, so it is given back as it is."""


def is_away(error: Exception) -> bool:
    """Tell a database that cannot serve from a statement that is wrong."""
    if isinstance(error, asyncpg.PostgresError):
        return (error.sqlstate or "")[:2] in AWAY
    return isinstance(error, (OSError, asyncpg.InterfaceError))
