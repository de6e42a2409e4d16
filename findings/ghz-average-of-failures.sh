#!/usr/bin/env bash
# ghz 0.93.0: if half of the calls fail at once, the average is half of the fastest: one is of all calls, the other of those with OK
#
# A server answers every second call after 100 ms, and refuses the others without a wait. Fastest, slowest, histogram and percentiles leave
# failed calls out, "Average" and "Requests/sec" do not. So a server that fails more has a better average and rate.
source "$(dirname "$0")/common"
needs go
GOBIN="$work" go install github.com/bojand/ghz/cmd/ghz@v0.93.0 &> go.txt || skip "ghz could not be built"
python_with grpcio==1.85.1
echo 'syntax = "proto3"; package demo; message Nothing {} service Demo { rpc Call (Nothing) returns (Nothing); }' > demo.proto
cat > server.py <<'PY'
import itertools, sys, time
from concurrent.futures import ThreadPoolExecutor
import grpc
calls = itertools.count()
def call(request, context):
    if next(calls) % 2:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "refused")
    time.sleep(0.1)
    return b""
class Demo(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(call)
server = grpc.server(ThreadPoolExecutor(4), handlers=[Demo()])
server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}")
server.start()
server.wait_for_termination()
PY
port=$(free_port)
start env/bin/python server.py "$port"
listening "$port"
./ghz --insecure --proto demo.proto --call demo.Demo.Call -c 1 -n 40 -O json "127.0.0.1:$port" > out.json
seen=$(python3 -c '
import json
out = json.load(open("out.json"))
half = out["latencyDistribution"][2]["latency"]
below = out["average"] < 0.8 * out["fastest"] <= 0.8 * half
print(out["statusCodeDistribution"], "average below the fastest" if below else (out["average"], out["fastest"], half))')
compare "{'FailedPrecondition': 20, 'OK': 20} average below the fastest" "$seen"
