#!/usr/bin/env bash
# Bun 1.4.5, Deno 2.9.6, Go 1.26, JDK 25.0.3 under a quota of 1.5 CPUs: two count 1 CPU and two count 2, and Go counts 2 under 0.5 too
#
# Each sizes its threads by it. The same container gives the same service two workers in one language and one in another.
source "$(dirname "$0")/common"
go_126
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
java=$(jdk 25)
quota() { limit cpu.cfs_quota_us "$1"000 cpu.max "${1}000 100000"; } # in hundredths of a CPU
cgroup_with cpu
quota 150
node_with bun@1.4.5 deno@2.9.6
printf 'package main\n\nimport "runtime"\n\nfunc main() { print(runtime.GOMAXPROCS(0)) }\n' > main.go
go build -o counted main.go
echo 'class Count { public static void main(String[] a) { System.out.print(Runtime.getRuntime().availableProcessors()); } }' > Count.java
"$java/javac" Count.java
seen="Bun $(limited node_modules/.bin/bun -e 'console.log(navigator.hardwareConcurrency)')"
seen+=", Deno $(limited node_modules/.bin/deno eval 'console.log(navigator.hardwareConcurrency)')"
seen+=", Go $(limited ./counted 2>&1)"
seen+=", Java $(limited "$java/java" Count)"
quota 50
seen+="; under 0.5 Go $(limited ./counted 2>&1)"
compare "Bun 1, Deno 1, Go 2, Java 2; under 0.5 Go 2" "$seen"
