#!/usr/bin/env bash
# hey 0.1.5: `-n 250 -c 100` sends 200 requests, and prints no word about the other 50
#
# Each worker sends n / c requests, rounded down.
source "$(dirname "$0")/common"
needs go
GOBIN="$work" go install github.com/rakyll/hey@v0.1.5 > go.txt 2>&1 || skip "hey could not be built"
ok_server
./hey -n 250 -c 100 "http://127.0.0.1:$port/" > out.txt
compare "200 responses" "$(sed -n 's/.*\[200\]\t\([0-9]*\) responses/\1/p' out.txt) responses"
