#!/usr/bin/env bash
# Bun 1.4.5, Deno 2.9.6, Go 1.26, JDK 25.0.3 under a quota of 1.5 CPUs: two count 1 CPU and two count 2, and Go counts 2 under 0.5 too
#
# Each sizes its threads by it. The same container gives the same service two workers in one language and one in another.
source "$(dirname "$0")/common"
needs go
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
java=$(jdk 25)
quota() { # in hundredths of a CPU
  if [ -n "$old" ]; then echo "$1"000 > "$group/cpu.cfs_quota_us"; else echo "$1"000 100000 > "$group/cpu.max"; fi
}
old=yes group=/sys/fs/cgroup/cpu,cpuacct/finding-$$
[ -d "${group%/*}" ] || group=/sys/fs/cgroup/cpu/finding-$$
[ -d "${group%/*}" ] || { old=""; group=/sys/fs/cgroup/finding-$$; }
{ mkdir "$group" && quota 150; } 2> /dev/null || skip "needs a cgroup with a CPU quota"
node_with bun@1.4.5 deno@2.9.6
limited() { (echo "$BASHPID" > "$group/cgroup.procs"; exec "$@"); }
printf 'package main\n\nimport "runtime"\n\nfunc main() { print(runtime.GOMAXPROCS(0)) }\n' > main.go
GOTOOLCHAIN=local GO111MODULE=off go build -o counted main.go
echo 'class Count { public static void main(String[] a) { System.out.print(Runtime.getRuntime().availableProcessors()); } }' > Count.java
"$java/javac" Count.java
seen="Bun $(limited node_modules/.bin/bun -e 'console.log(navigator.hardwareConcurrency)')"
seen+=", Deno $(limited node_modules/.bin/deno eval 'console.log(navigator.hardwareConcurrency)')"
seen+=", Go $(limited ./counted 2>&1)"
seen+=", Java $(limited "$java/java" Count)"
quota 50
seen+="; under 0.5 Go $(limited ./counted 2>&1)"
rmdir "$group" 2> /dev/null || true
compare "Bun 1, Deno 1, Go 2, Java 2; under 0.5 Go 2" "$seen"
