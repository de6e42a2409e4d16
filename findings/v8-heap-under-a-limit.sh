#!/usr/bin/env bash
# Node 26.10.0 and Deno 2.9.6 under a memory limit of 128 MiB: heaps of 262 and 4,192 MiB, though the kernel ends them at 128
#
# Node takes its heap from the limit down to a floor of 262 MiB. Deno takes the same bound at any limit. "Let the runtime take it
# from the container" is right for the JVM (64 MiB here) and wrong for both: they need --max-old-space-size.
source "$(dirname "$0")/common"
cgroup_with memory
limit memory.limit_in_bytes $((128 << 20)) memory.max $((128 << 20))
node_with node@26.10.0 deno@2.9.6
ask='import("node:v8").then((v8) => console.log(Math.round(v8.getHeapStatistics().heap_size_limit / 2 ** 20)))'
seen="Node $(limited node_modules/.bin/node -e "$ask") MiB, Deno $(limited node_modules/.bin/deno eval "$ask") MiB"
compare "Node 262 MiB, Deno 4192 MiB" "$seen"
