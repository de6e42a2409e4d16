//! Clocks, all in nanoseconds.

/// Now, on `CLOCK_MONOTONIC`, in nanoseconds. The clock of every timestamp of the engine.
#[must_use]
pub fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC).unwrap_or(0)
}

/// CPU time of the calling process (all its threads), in nanoseconds.
#[must_use]
pub fn own_cpu_ns() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or(0)
}

/// CPU time of the calling thread, in nanoseconds.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

/// CPU time of another process (user and system, all its threads, also those that have ended), in nanoseconds.
///
/// `/proc/PID/stat` counts in ticks of 10 ms; the process's own CPU clock does not. `None` when it has gone.
#[must_use]
pub fn process_cpu_ns(pid: i32) -> Option<u64> {
    // The clock id of a process, as clock_getcpuclockid(3) builds it: the pid's complement, and CPUCLOCK_SCHED.
    read((!pid << 3) | 2)
}

/// Nanoseconds as seconds.
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn read(clock: libc::clockid_t) -> Option<u64> {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `t` is a valid timespec that outlives the call.
    let done = unsafe { libc::clock_gettime(clock, &raw mut t) };
    (done == 0).then(|| {
        u64::try_from(t.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(t.tv_nsec).unwrap_or(0)
    })
}
