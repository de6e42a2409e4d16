//! The one clock of the engine: `CLOCK_MONOTONIC`.

use std::time::{SystemTime, UNIX_EPOCH};

pub use touchstone_sys::clock::{Nanos, monotonic as now, nanos, seconds};

/// Wall-clock seconds since the Unix epoch.
#[must_use]
pub fn unix_seconds() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

/// Wall-clock nanoseconds since the Unix epoch.
#[must_use]
pub fn unix_nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
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
