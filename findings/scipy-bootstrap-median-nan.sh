#!/usr/bin/env bash
# scipy 1.17.1: bootstrap's interval of the median of ten latencies in whole milliseconds is from nan to nan, by its default method
#
# BCa leaves out one value at a time. If the median stays the same each time, as it does where values are tied, BCa divides by zero. It
# warns, and gives nan. `method="percentile"` gives an interval from the same values.
source "$(dirname "$0")/common"
python_with scipy==1.17.1
seen=$(env/bin/python -W ignore - <<'PY'
import numpy
from scipy.stats import bootstrap
latencies = [12, 12, 13, 13, 12, 12, 13, 11, 12, 14]
def interval(**options):
    found = bootstrap((latencies,), numpy.median, rng=1, **options).confidence_interval
    return f"{found.low:g} to {found.high:g}"
print(f"{interval()}, by percentile {interval(method='percentile')}")
PY
)
compare "nan to nan, by percentile 12 to 13" "$seen"
