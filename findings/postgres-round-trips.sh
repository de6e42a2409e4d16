#!/usr/bin/env bash
# PostgreSQL clients: a query takes 3 round trips with pg8000 1.31.6 and psycopg_pool 3.3.3, 2 with asyncpg 0.32.0 and 1 with pg 8.23.1
#
# Each is counted for the tenth query through a pool, or a connection where there is no pool. pg8000 ends each step of the query with
# a Sync of its own. A block of psycopg_pool is a transaction: BEGIN and COMMIT. asyncpg resets a connection that returns to its pool.
source "$(dirname "$0")/common"
needs node
postgres=$(ls -d /usr/lib/postgresql/*/bin 2> /dev/null | tail -1)
[ -n "$postgres" ] || skip "needs PostgreSQL (Debian)"
python_with asyncpg==0.32.0 pg8000==1.31.6 "psycopg[binary]==3.3.9" psycopg_pool==3.3.3
node_with pg@8.23.1
as=
if [ "$(id -u)" = 0 ]; then # PostgreSQL refuses to run as root
  as="setpriv --reuid=postgres --regid=postgres --clear-groups"
  chmod 711 "$work" && mkdir data && chown postgres data
fi
$as "$postgres/initdb" -D "$work/data" -A trust -U postgres > initdb.txt 2>&1 || { cat initdb.txt >&2; exit 1; }
database=$(free_port)
start $as "$postgres/postgres" -D "$work/data" -p "$database" -c listen_addresses=127.0.0.1 -c unix_socket_directories=
listening "$database"
cat > proxy.py <<'PY'
# Counts ReadyForQuery messages, each of which ends a round trip.
import asyncio, sys
async def serve(reader, writer):
    upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", int(sys.argv[2]))
    async def to_server():
        while data := await reader.read(65536):
            upstream_writer.write(data)
        upstream_writer.close()
    forward = asyncio.create_task(to_server())
    count = 0
    try:
        while True:
            head = await upstream_reader.readexactly(5)
            body = await upstream_reader.readexactly(int.from_bytes(head[1:], "big") - 4)
            count += head[:1] == b"Z"
            with open("count", "w") as file:
                file.write(str(count))
            writer.write(head + body)
    except (asyncio.IncompleteReadError, ConnectionError):
        forward.cancel()
        writer.close()
async def main():
    await (await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))).serve_forever()
asyncio.run(main())
PY
port=$(free_port)
start python3 proxy.py "$port" "$database"
listening "$port"
cat > clients.py <<'PY'
import asyncio, sys
name, port, queries = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def through_pg8000():
    import pg8000.native
    connection = pg8000.native.Connection("postgres", host="127.0.0.1", port=port, ssl_context=False)
    for number in range(queries):
        connection.run("select cast(:number as int)", number=number)
    connection.close()
def through_psycopg_pool():
    from psycopg_pool import ConnectionPool
    with ConnectionPool(f"host=127.0.0.1 port={port} user=postgres sslmode=disable", min_size=1, max_size=1) as pool:
        pool.wait()
        for number in range(queries):
            with pool.connection() as connection:
                connection.execute("select %s::int", (number,)).fetchone()
def through_asyncpg():
    import asyncpg
    async def main():
        options = {"host": "127.0.0.1", "port": port, "user": "postgres", "ssl": False, "min_size": 1, "max_size": 1}
        async with asyncpg.create_pool(**options) as pool:
            for number in range(queries):
                await pool.fetchval("select $1::int", number)
    asyncio.run(main())
globals()["through_" + name]()
PY
cat > pg.js <<'JS'
const pool = new (require('pg').Pool)({ host: '127.0.0.1', port: process.argv[2], user: 'postgres', max: 1 });
(async () => {
  for (let number = 0; number < Number(process.argv[3]); number++) await pool.query('select $1::int', [number]);
  await pool.end();
})();
JS
round_trips() { # of the tenth query: those of a run with ten, less those of a run with nine
  "$@" "$port" 10
  sleep 0.2
  local ten
  ten=$(cat count)
  "$@" "$port" 9
  sleep 0.2
  echo $((ten - $(cat count)))
}
seen=
for name in pg8000 psycopg_pool asyncpg; do seen+="$name $(round_trips env/bin/python clients.py $name), "; done
compare "pg8000 3, psycopg_pool 3, asyncpg 2, pg 1" "${seen}pg $(round_trips node pg.js)"
