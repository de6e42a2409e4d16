"""The settings of a service's own sessions: each may change some for itself, and no look at the server shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg import sql

CHANGEABLE = (
    "commit_delay",
    "jit",
    "max_parallel_workers_per_gather",
    "plan_cache_mode",
    "synchronous_commit",
    "transaction_isolation",
    "work_mem",
)
"""What a session may set for itself, and what changes the work that the server does for it."""
_LAB = "touchstone_lab"
_TELL_S = 0.2
_LAY = """
SET LOCAL lock_timeout = '1s';
CREATE SCHEMA touchstone_lab;
CREATE FUNCTION touchstone_lab.tell() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $tell$
BEGIN
  PERFORM pg_notify(
    'touchstone_lab',
    (SELECT json_object_agg(name, current_setting(name, true)) FROM unnest({names}::text[]) AS name)::text
  );
  RETURN NULL;
END
$tell$;
DO $lay$
DECLARE place regclass;
BEGIN
  FOR place IN
    SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't'
    AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  LOOP
    EXECUTE format(
      'CREATE TRIGGER touchstone_lab AFTER INSERT OR UPDATE OR DELETE ON %s'
      ' FOR EACH STATEMENT EXECUTE FUNCTION touchstone_lab.tell()', place
    );
  END LOOP;
END
$lay$;
"""
_TAKE_UP = "SET lock_timeout = '10s'; DROP SCHEMA touchstone_lab CASCADE"

Connection = psycopg.Connection[tuple[object, ...]]


@contextmanager
def overheard(connection: Connection, names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Within it each transaction that writes tells the settings that it runs with. Afterwards they are in the result.

    A trigger on every table tells them, in the session that fires it. All values of a setting are given.
    Nothing is there where a table was not to be had: somebody works on it for longer than a second, or owns it.

    Args:
        connection: in the service's database, of its owner or a superuser; each statement its own transaction.
        names: of the settings.

    Raises:
        psycopg.Error: the triggers cannot be taken away again.

    """
    found: dict[str, str] = {}
    try:
        with connection.transaction():
            connection.execute(sql.SQL(_LAY).format(names=sql.Literal(list(names))))
        connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(_LAB)))
    except (psycopg.errors.LockNotAvailable, psycopg.errors.InsufficientPrivilege):
        yield found
        return
    try:
        yield found
    finally:
        connection.execute(_TAKE_UP)
        settings = [json.loads(one.payload) for one in connection.notifies(timeout=_TELL_S)]
    for name in names:
        values = {str(one[name]) for one in settings if one.get(name) is not None}
        if values:
            found[name] = ", ".join(sorted(values))
