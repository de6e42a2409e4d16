#!/usr/bin/env bash
# Go net/http 1.26 over HTTP/2: of ten SETTINGS frames sent at once most get no acknowledgement
#
# RFC 9113 (section 6.5.3) asks for one of each. Go keeps a flag, and no count: in 30 of 40 tries it sent two, and never more than
# five. A client that counts is left behind: h2 for Python applies one of its changes by acknowledgement, and never the last.
source "$(dirname "$0")/common"
go_126
python_with h2==4.4.1
cat > main.go <<'GO'
package main

import (
	"net/http"
	"os"
)

func main() {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Addr: "127.0.0.1:" + os.Args[1], Protocols: protocols}
	panic(server.ListenAndServe())
}
GO
go build -o server main.go
port=$(free_port)
start ./server "$port"
listening "$port"
seen=$(env/bin/python - "$port" <<'PY'
import socket, sys
from h2.connection import H2Connection
from h2.events import PingAckReceived, SettingsAcknowledged
from h2.settings import SettingCodes
client = H2Connection()
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
def acknowledged(): # until a PING sent behind all else is answered, and half a second more
    connection.settimeout(5)
    client.ping(b"12345678")
    connection.sendall(client.data_to_send())
    count = 0
    try:
        while data := connection.recv(65536):
            for event in client.receive_data(data):
                count += isinstance(event, SettingsAcknowledged)
                if isinstance(event, PingAckReceived):
                    connection.settimeout(0.5)
            connection.sendall(client.data_to_send())
    except TimeoutError:
        return count
client.initiate_connection()
first = acknowledged()
for window in range(100_001, 100_011):
    client.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: window})
found = acknowledged()
view = client.local_settings.initial_window_size
print(f"alone: {first} of 1, at once: {'fewer than 10' if 1 <= found < 10 else found},",
      f"the client's window is {'not ' if view != 100_010 else ''}the last")
PY
)
compare "alone: 1 of 1, at once: fewer than 10, the client's window is not the last" "$seen"
