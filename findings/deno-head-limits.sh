#!/usr/bin/env bash
# Deno 2.9.6: a head of 65 KiB is refused with 400, and 128 fields are served; 2.8.0 serves 65 KiB and refuses 128 fields with 431
#
# Since 2.9.0 the bounds are 128 fields, 64 KiB and 400 for both; those of hyper (100 fields, over 400 KiB and 431) are gone. A
# minor version made a request an error that had been served.
source "$(dirname "$0")/common"
echo 'Deno.serve({ port: Number(Deno.args[0]), hostname: "127.0.0.1" }, () => new Response("ok"));' > server.js
cat > client.py <<'PY'
import socket, sys
def status(fields):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
        connection.sendall(f"GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n".encode())
        return connection.recv(4096).split()[1].decode()
def count(number):
    return f"{number} fields: " + status("".join(f"x{field}: a\r\n" for field in range(number - 1)))
def size(kib):
    return f"{kib} KiB: " + status("X-Value: " + "a" * (kib * 1024 - 40) + "\r\n")
print(count(100), count(128), count(129), size(63), size(65), sep=", ")
PY
seen=
for version in 2.8.0 2.9.6; do
  node_with "deno@$version"
  port=$(free_port)
  start node_modules/.bin/deno run --allow-net server.js "$port"
  listening "$port"
  seen="$seen$version: $(python3 client.py "$port"); "
done
old="100 fields: 200, 128 fields: 431, 129 fields: 431, 63 KiB: 200, 65 KiB: 200"
new="100 fields: 200, 128 fields: 200, 129 fields: 400, 63 KiB: 200, 65 KiB: 400"
compare "2.8.0: $old; 2.9.6: $new; " "$seen"
