"""Outputs as the documentation and the sources of tools have them, of versions that were not run for these tests."""

from __future__ import annotations

OHA = """Summary:
  Success rate:\t100.00%
  Total:\t{total}
  Slowest:\t{slowest}
  Fastest:\t0.0300 ms
  Average:\t0.5000 ms
  Requests/sec:\t8000.0000

Response time histogram:
   0.030 ms [1]     |
   9.000 ms [7199]  |■■■■

Response time distribution:
  10.00% in 0.1000 ms
  50.00% in 0.4000 ms
  99.00% in 2.0000 ms

Response time distribution (2xx only):
  50.00% in 0.3000 ms
  99.00% in 1.0000 ms

Details (average, fastest, slowest):
  DNS+dialup:\t0.1000 ms, 0.0100 ms, 0.2000 ms

Status code distribution:
  [200] 7200 responses
  [500] 800 responses

Error distribution:
  [4] aborted due to deadline
  [3] connection error
"""
"""As version 1.16 prints it."""
DRILL = """Concurrency 4
Iterations 100

users                     Total requests            50
users                     Requests per second       1.00

Time taken for tests      0.5 seconds
Total requests            100
Successful requests       90
Failed requests           10
Requests per second       200.00 [#/sec]
Median time per request   2ms
Average time per request  3ms
Sample standard deviation 1ms
99.0'th percentile        9ms
99.9'th percentile        12ms
Max time per request      12ms
"""
GATLING = """================================================================================
---- Global Information --------------------------------------------------------
> request count                                      10000 (OK=9990   KO=10    )
> min response time                                      1 (OK=1      KO=3     )
> max response time                                    250 (OK=250    KO=60    )
> mean response time                                    12 (OK=12     KO=9     )
> std deviation                                         10 (OK=10     KO=8     )
> response time 50th percentile                          9 (OK=9      KO=6     )
> response time 99th percentile                         60 (OK=60     KO=60    )
> mean requests/sec                                  500.0 (OK=499.5  KO=0.5   )
"""
STATS = {"type": "GROUP", "name": "All Requests", "contents": {}, "stats": {
    "name": "All Requests", "numberOfRequests": {"total": 10000, "ok": 9990, "ko": 10},
    "minResponseTime": {"total": 1, "ok": 1, "ko": 3}, "maxResponseTime": {"total": 250, "ok": 250, "ko": 60},
    "meanResponseTime": {"total": 12, "ok": 12, "ko": 9}, "percentiles1": {"total": 9, "ok": 9, "ko": 6},
    "percentiles4": {"total": 60, "ok": 60, "ko": 60},
    "meanNumberOfRequestsPerSecond": {"total": 500.0, "ok": 499.5, "ko": 0.5}}}  # fmt: skip
LOG = "RUN\tcom.acme.Shop\tshop\t1700000000000\t \t3.9.5\nUSER\tshop\tSTART\t1700000000000\n" + "".join(
    f"REQUEST\t\tget\t{1700000000000 + 20 * n}\t{1700000000012 + 20 * n}\t{'KO' if n % 100 == 0 else 'OK'}\t \n"
    for n in range(1000)
)
SIEGE = """Transactions:\t\t         495 hits
Availability:\t\t       99.00 %
Elapsed time:\t\t       10.00 secs
Data transferred:\t        0.01 MB
Response time:\t\t        0.01 secs
Transaction rate:\t       49.50 trans/sec
Throughput:\t\t        0.00 MB/sec
Concurrency:\t\t        0.50
Successful transactions:         495
Failed transactions:\t           5
Longest transaction:\t        0.04
Shortest transaction:\t        0.00
"""
