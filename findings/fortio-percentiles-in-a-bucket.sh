#!/usr/bin/env bash
# fortio 1.68.0: nine of ten responses take 510 to 530 ms, and its p50 is 560 ms, its p75 585 ms: both are spread over a bucket
#
# Its histogram has one bucket from 500 to 600 ms, and takes the responses of a bucket as evenly spread over it. So these percentiles
# say where the bucket ends, and not what was measured. The mean, of about 525 ms, is that of the exact times.
source "$(dirname "$0")/common"
needs go
GOBIN="$work" go install fortio.org/fortio@v1.68.0 &> go.txt || skip "fortio could not be built"
ok_server "0.51 + 0.14 * (count % 10 == 0)"
./fortio load -quiet -c 4 -n 40 -qps 0 -json out.json -p 50,75 "http://127.0.0.1:$port/" &> fortio.txt
seen=$(python3 -c '
import json
times = json.load(open("out.json"))["DurationHistogram"]
mean, half, quarter = (1000 * time for time in (times["Avg"], *(mark["Value"] for mark in times["Percentiles"])))
above = half > mean + 15 and quarter > mean + 40
print("far above the mean" if above else f"p50 {half:.0f} ms, p75 {quarter:.0f} ms, mean {mean:.0f} ms")')
compare "far above the mean" "$seen"
