// Logs each pause of V8's collector in Node.js: process, end and length in nanoseconds of CLOCK_MONOTONIC, kind.
'use strict'
const { constants, performance, PerformanceObserver } = require('node:perf_hooks')
const { openSync, writeSync } = require('node:fs')

const names = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'Scavenge',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'Mark-Compact',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'Incremental marking',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'Weak callbacks',
}
const origin = Number(process.hrtime.bigint()) - performance.now() * 1e6
const file = openSync(process.env.TOUCHSTONE_PAUSES, 'a')
new PerformanceObserver((list) => {
  let lines = ''
  for (const { startTime, duration, detail } of list.getEntries()) {
    const end = Math.round(origin + (startTime + duration) * 1e6)
    lines += `${process.pid} ${end} ${Math.round(duration * 1e6)} ${names[detail.kind] ?? 'collection'}\n`
  }
  writeSync(file, lines)
}).observe({ entryTypes: ['gc'] })
