#!/usr/bin/env bash
# Locust 2.47.0: response times of 103 and 104 ms have a 50th and a 99th percentile of 100 ms, below their minimum
#
# Response times from 100 ms on are kept in classes of 10 ms, from 1 s on of 100 ms; minimum and mean are exact. Only the median is
# raised to the minimum afterwards, so that one row holds "Median 103" and "50% 100".
source "$(dirname "$0")/common"
python_with locust==2.47.0
seen=$(env/bin/python - 2> /dev/null <<'PY'
from locust.stats import RequestStats
stats = RequestStats()
for milliseconds in (103, 104, 104, 104, 104):
    stats.log_request("GET", "/", milliseconds, 2)
entry = stats.get("/", "GET")
shares = [entry.get_response_time_percentile(share) for share in (0.5, 0.99)]
print(f"minimum {entry.min_response_time}, median {entry.median_response_time}, 50% {shares[0]}, 99% {shares[1]}")
PY
)
compare "minimum 103, median 103, 50% 100, 99% 100" "$seen"
