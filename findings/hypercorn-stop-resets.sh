#!/usr/bin/env bash
# hypercorn 0.18.0: after SIGTERM connections are still taken for half a second, and reset without a response
#
# A load balancer that sends requests until its next health check loses each of them. A closed listener would refuse them, and they
# would be sent elsewhere.
source "$(dirname "$0")/common"
python_with hypercorn==0.18.0
asgi_app
port=$(free_port)
seen=$(python3 - "$port" <<'PY'
import socket, subprocess, sys, time
address = ("127.0.0.1", int(sys.argv[1]))
server = subprocess.Popen(["env/bin/python", "-m", "hypercorn", "--bind", f"127.0.0.1:{address[1]}", "app:app"], stderr=subprocess.DEVNULL)
def ask():
    with socket.create_connection(address) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        return connection.recv(65536)
for _ in range(200):
    try:
        ask()
        break
    except OSError:
        time.sleep(0.05)
server.terminate()
lost, until = 0, time.monotonic() + 5
while time.monotonic() < until and server.poll() is None:
    try:
        lost += not ask()
    except ConnectionRefusedError:
        break
    except ConnectionResetError:
        lost += 1
server.wait()
print("taken and lost:", "yes" if lost else "no")
print(lost, file=sys.stderr)
PY
)
compare "taken and lost: yes" "$seen"
