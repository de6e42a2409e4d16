#!/usr/bin/env bash
# SQLAlchemy 2.0.51 with asyncpg: a URL with `?sslmode=disable` is a TypeError, though asyncpg itself takes it
#
# SQLAlchemy gives each parameter of the query to the driver as a keyword argument; asyncpg reads `sslmode` from URLs alone. The
# same DATABASE_URL serves psycopg, pgx and asyncpg, and not SQLAlchemy on asyncpg, which wants `?ssl=disable`.
source "$(dirname "$0")/common"
python_with sqlalchemy==2.0.51 asyncpg==0.31.0 greenlet
port=$(free_port) # nothing listens there: an argument that is taken ends in a refused connection
seen=$(env/bin/python - "$port" <<'PY'
import asyncio, sys
import asyncpg
from sqlalchemy.ext.asyncio import create_async_engine
url = f"://u:p@127.0.0.1:{sys.argv[1]}/d?sslmode=disable"
async def error(action):
    try:
        await action
    except Exception as raised:
        return type(raised).__name__
async def main():
    engine = create_async_engine("postgresql+asyncpg" + url)
    print("asyncpg:", await error(asyncpg.connect("postgresql" + url)), "SQLAlchemy:", await error(engine.connect().start()))
asyncio.run(main())
PY
)
compare "asyncpg: ConnectionRefusedError SQLAlchemy: TypeError" "$seen"
