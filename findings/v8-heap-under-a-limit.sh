#!/usr/bin/env bash
# Node 26.10.0 and Deno 2.9.6 under a memory limit of 128 MiB: heaps of 262 and 4,192 MiB, though the kernel ends them at 128
#
# Node takes its heap from the limit down to a floor of 262 MiB. Deno takes the same bound at any limit. "Let the runtime take it
# from the container" is right for the JVM (64 MiB here) and wrong for both: they need --max-old-space-size.
source "$(dirname "$0")/common"
group=/sys/fs/cgroup/memory/finding-$$
if mkdir "$group" 2> /dev/null; then
  echo $((128 << 20)) > "$group/memory.limit_in_bytes"
else
  group=/sys/fs/cgroup/finding-$$
  { mkdir "$group" && echo $((128 << 20)) > "$group/memory.max"; } 2> /dev/null || skip "needs a cgroup with a memory limit"
fi
node_with node@26.10.0 deno@2.9.6
limited() { (echo "$BASHPID" > "$group/cgroup.procs"; exec "$@"); }
ask='import("node:v8").then((v8) => console.log(Math.round(v8.getHeapStatistics().heap_size_limit / 2 ** 20)))'
seen="Node $(limited node_modules/.bin/node -e "$ask") MiB, Deno $(limited node_modules/.bin/deno eval "$ask") MiB"
rmdir "$group" 2> /dev/null || true
compare "Node 262 MiB, Deno 4192 MiB" "$seen"
