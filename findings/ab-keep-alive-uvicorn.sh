#!/usr/bin/env bash
# ab 2.3 against uvicorn 0.54.0: `ab -k` keeps no connection, and says so only in "Keep-Alive requests: 0"
#
# ab speaks HTTP/1.0 and keeps a connection if the response says `Connection: keep-alive`. uvicorn does not say it, neither with
# httptools nor with h11: a run that was meant for kept connections measures a new connection for each request.
source "$(dirname "$0")/common"
needs ab
python_with uvicorn==0.54.0 httptools==0.9.0
asgi_app
kept() { # of 20 requests, with this reader of HTTP
  port=$(free_port)
  start env/bin/uvicorn --port "$port" --http "$1" app:app
  listening "$port"
  ab -q -k -n 20 -c 1 "http://127.0.0.1:$port/" > ab.txt
  echo "$1: $(sed -n 's/^Complete requests: *//p' ab.txt) requests, $(sed -n 's/^Keep-Alive requests: *//p' ab.txt) kept"
}
compare "httptools: 20 requests, 0 kept, h11: 20 requests, 0 kept" "$(kept httptools), $(kept h11)"
