#!/usr/bin/env bash
# Python's ssl (OpenSSL 3.0): a server that offers h2 alone to a client of http/1.1 alone completes the handshake without ALPN
#
# RFC 7301, section 3.2, wants the alert no_application_protocol. Both sides go on with no protocol agreed, and the first bytes
# decide what is spoken.
source "$(dirname "$0")/common"
needs openssl
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost 2> /dev/null
seen=$(python3 - <<'PY'
import socket, ssl, threading
server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server.load_cert_chain("cert.pem", "key.pem")
server.set_alpn_protocols(["h2"])
listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: server.wrap_socket(listener.accept()[0], server_side=True), daemon=True).start()
client = ssl._create_unverified_context()
client.set_alpn_protocols(["http/1.1"])
try:
    agreed = client.wrap_socket(socket.create_connection(listener.getsockname()))
    print(agreed.version(), agreed.selected_alpn_protocol())
except ssl.SSLError as error:
    print(error.reason)
PY
)
compare "TLSv1.3 None" "$seen"
