#!/usr/bin/env bash
# wrk 4.1.0: `-c 100 -t 3` holds 99 connections and prints 100
#
# Each thread opens connections / threads, rounded down. The head line still says "3 threads and 100 connections", so that rate
# times mean latency is a hundredth short of what is printed, and more with fewer connections.
source "$(dirname "$0")/common"
needs_wrk
ok_server
opened() { # how many connections a load with this many threads opens
  before=$(cat opened)
  wrk -c 100 -t "$1" -d 1s "http://127.0.0.1:$port/" > out.txt
  echo $(($(cat opened) - before))
}
even=$(opened 2)
odd=$(opened 3)
head=$(grep -o '[0-9]* threads and [0-9]* connections' out.txt)
if [ "$head" = "3 threads and 100 connections" ] && [ "$odd" = $((even - 1)) ]; then
  echo "as described: '$head', and one connection less than with two threads ($odd and $even, one of them to look the server up)"
else
  echo "changed: '$head', $odd opened, with two threads $even"; exit 1
fi
