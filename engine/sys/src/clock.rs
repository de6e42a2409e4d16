//! Clocks, and the times that the kernel accounts to a thread.

use std::time::Duration;

pub use crate::nanos::Nanos;

/// Now, on `CLOCK_MONOTONIC`, since an arbitrary start. The clock of every timestamp of the engine.
#[inline]
#[must_use]
pub fn monotonic() -> Nanos {
    read(libc::CLOCK_MONOTONIC).unwrap_or_default()
}

/// CPU time of the calling process (all its threads).
#[must_use]
pub fn own_cpu() -> Nanos {
    read(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or_default()
}

/// CPU time of the calling thread.
#[must_use]
pub fn thread_cpu() -> Nanos {
    read(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or_default()
}

/// What the kernel has accounted to a thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadTimes {
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
}

/// CPU time of the calling thread, by mode, to the microsecond (getrusage(2)).
#[must_use]
pub fn thread_times() -> ThreadTimes {
    // SAFETY: all zero is a valid rusage, and getrusage fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    let time = |value: libc::timeval| {
        let seconds = Duration::from_secs(u64::try_from(value.tv_sec).unwrap_or(0));
        seconds + Duration::from_micros(u64::try_from(value.tv_usec).unwrap_or(0))
    };
    ThreadTimes {
        user: time(usage.ru_utime),
        system: time(usage.ru_stime),
    }
}

/// CPU time of another process (user and system, all its threads, also those that have ended).
///
/// `/proc/PID/stat` counts in ticks of 10 ms; the process's own CPU clock does not. `None` when it has gone.
#[must_use]
pub fn process_cpu(pid: i32) -> Option<Nanos> {
    // The clock id of a process, as clock_getcpuclockid(3) builds it: the pid's complement, and CPUCLOCK_SCHED.
    read((!pid << 3) | 2)
}

/// Nanoseconds as seconds.
#[inline]
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub fn seconds(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}

/// Seconds from one stamp to another, negative when it lies before.
#[must_use]
pub fn since(at: Nanos, origin: Nanos) -> f64 {
    if at >= origin {
        seconds(at - origin)
    } else {
        -seconds(origin - at)
    }
}

/// Seconds as nanoseconds; below zero is zero.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn nanos(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9).round().max(0.0) as u64)
}

/// The wall clock against the monotonic one: what to add to the latter to get the former, in nanoseconds. `None` when
/// the thread was kept off its CPU between the readings each time, so that nothing can be said to 100 microseconds.
#[must_use]
pub fn wall_offset_ns() -> Option<i64> {
    const UNSURE: Nanos = Nanos::from_micros(100);
    (0..5).find_map(|_| {
        let before = monotonic();
        let wall = read(libc::CLOCK_REALTIME)?;
        let took = monotonic() - before;
        let between = i64::try_from((before + took / 2).0).ok()?;
        (took <= UNSURE).then_some(i64::try_from(wall.0).ok()? - between)
    })
}

#[inline]
fn read(clock: libc::clockid_t) -> Option<Nanos> {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `t` is a valid timespec that outlives the call.
    let done = unsafe { libc::clock_gettime(clock, &raw mut t) };
    (done == 0).then(|| {
        let part = |number: i64| u64::try_from(number).unwrap_or(0);
        Nanos::SECOND * part(t.tv_sec) + Nanos(part(t.tv_nsec))
    })
}

/// Length of the tick in which the kernel accounts CPU time in `/proc`.
#[must_use]
pub fn tick() -> Nanos {
    // SAFETY: sysconf only reads a number.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    Nanos::SECOND / u64::try_from(per_second).unwrap_or(100).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clocks_of_this_machine_keep_step() {
        let (first, second) = (wall_offset_ns().unwrap(), wall_offset_ns().unwrap());
        assert!(first.abs_diff(second) < 1_000_000_000);
        assert!(monotonic() <= monotonic());
    }

    #[test]
    fn a_thread_that_computes_does_so_in_user_mode() {
        let before = thread_times();
        let mut sum = 0u64;
        while thread_times().user <= before.user {
            sum = (0..100_000u64).fold(sum, |sum, n| std::hint::black_box(sum ^ n));
        }
        let (times, whole) = (thread_times(), Duration::from(thread_cpu()));
        assert!(times.user > before.user && times.system >= before.system);
        assert!(times.user + times.system <= whole + Duration::from_millis(1));
    }

    #[test]
    fn cpu_time_of_a_thread_is_part_of_its_process() {
        let thread = thread_cpu();
        let own = process_cpu(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(thread > Nanos::ZERO && thread <= own_cpu());
        assert!(own > Nanos::ZERO);
        assert!(process_cpu(4_194_305).is_none());
    }
}
