#!/usr/bin/env bash
# HdrHistogram ports: the p99 of 1 to 60 is 60 in Java 2.2.2 and JavaScript 3.0.1, and 59 in Go 1.4.0 and Python 0.10.8
#
# The rank is 0.99 times the count. Java and JavaScript round it up, Go and Python to the nearest number. With a hundred samples or
# fewer this decides whether the p99 is the slowest of them. It also decides the p40 of three values.
source "$(dirname "$0")/common"
needs go
java_with org.hdrhistogram:HdrHistogram:2.2.2
python_with hdrhistogram==0.10.8
node_with hdr-histogram-js@3.0.1
cat > Ports.java <<'JAVA'
import org.HdrHistogram.Histogram;
public class Ports {
    static long percentile(int count, double share) {
        var histogram = new Histogram(1, 3_600_000, 3);
        for (int value = 1; value <= count; value++) histogram.recordValue(value);
        return histogram.getValueAtPercentile(share);
    }
    public static void main(String[] args) { System.out.println(percentile(60, 99) + " " + percentile(3, 40)); }
}
JAVA
cat > ports.cjs <<'JS'
const hdr = require('hdr-histogram-js');
function percentile(count, share) {
  const histogram = hdr.build({ lowestDiscernibleValue: 1, highestTrackableValue: 3600000, numberOfSignificantValueDigits: 3 });
  for (let value = 1; value <= count; value++) histogram.recordValue(value);
  return histogram.getValueAtPercentile(share);
}
console.log(percentile(60, 99), percentile(3, 40));
JS
cat > ports.py <<'PY'
from hdrh.histogram import HdrHistogram
def percentile(count, share):
    histogram = HdrHistogram(1, 3_600_000, 3)
    for value in range(1, count + 1):
        histogram.record_value(value)
    return histogram.get_value_at_percentile(share)
print(percentile(60, 99), percentile(3, 40))
PY
mkdir port
cat > port/main.go <<'GO'
package main

import (
	"fmt"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

func percentile(count int64, share float64) int64 {
	histogram := hdr.New(1, 3_600_000, 3)
	for value := int64(1); value <= count; value++ {
		histogram.RecordValue(value)
	}
	return histogram.ValueAtPercentile(share)
}

func main() { fmt.Println(percentile(60, 99), percentile(3, 40)) }
GO
go_with port github.com/HdrHistogram/hdrhistogram-go@v1.4.0
seen="Java $("$java/java" -cp "$classpath" Ports.java), JavaScript $(node ports.cjs)"
seen+=", Go $(cd port && go run .), Python $(env/bin/python ports.py)"
compare "Java 60 2, JavaScript 60 2, Go 59 1, Python 59 1" "$seen"
