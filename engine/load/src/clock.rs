//! The one clock of the engine: `CLOCK_MONOTONIC`, in nanoseconds.

use std::time::{SystemTime, UNIX_EPOCH};

use touchstone_sys::clock;

pub use touchstone_sys::clock::Nanos;

/// Now, since an arbitrary start that all processes on this machine share.
#[inline]
#[must_use]
pub fn now() -> Nanos {
    Nanos(clock::monotonic_ns())
}

/// Seconds to nanoseconds.
#[must_use]
pub fn nanos(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9).round().max(0.0) as u64)
}

/// Nanoseconds to seconds.
#[must_use]
pub fn seconds(time: Nanos) -> f64 {
    clock::seconds(time.0)
}

/// Wall-clock seconds since the Unix epoch.
#[must_use]
pub fn unix_seconds() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

/// What reading the clock costs, in nanoseconds: the least of five means of 2,000 reads.
#[must_use]
pub fn cost_ns() -> f64 {
    const READS: u32 = 2_000;
    (0..5)
        .map(|_| {
            let begin = now();
            for _ in 0..READS {
                std::hint::black_box(now());
            }
            (now() - begin).0 as f64 / f64::from(READS)
        })
        .fold(f64::INFINITY, f64::min)
}

/// The clock's name and the kernel's source behind it.
#[must_use]
pub fn source() -> String {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    match std::fs::read_to_string(path) {
        Ok(name) => format!("CLOCK_MONOTONIC ({})", name.trim()),
        Err(_) => "CLOCK_MONOTONIC".to_owned(),
    }
}
