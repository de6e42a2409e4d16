//! The wall clock, held against the monotonic one through a watch.
//!
//! Servers and databases run their timeouts and leases on the wall clock. One that is set and put back leaves no trace
//! at the end, so it is looked at with every sample.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use touchstone_sys::clock::{Nanos, seconds, since};

/// What was seen of the wall clock. Seconds.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct WallClock {
    /// The largest change against the monotonic clock from one sample to the next; negative when it was set back.
    pub step_s: f64,
    /// When that was noticed, in the series' clock.
    pub t: f64,
    /// Between the furthest that it was ahead and the furthest that it was behind.
    pub range_s: f64,
}

/// Gathers the readings of a watch.
#[derive(Debug, Default)]
pub struct WallClockLog {
    seen: Option<Seen>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    last: i64,
    lowest: i64,
    highest: i64,
    step: i64,
    step_at: Nanos,
}

impl WallClockLog {
    /// Takes in one reading of [`touchstone_sys::clock::wall_offset_ns`].
    pub fn observe(&mut self, offset_ns: i64, at: Nanos) {
        let seen = self.seen.get_or_insert(Seen {
            last: offset_ns,
            lowest: offset_ns,
            highest: offset_ns,
            step: 0,
            step_at: at,
        });
        let step = offset_ns - seen.last;
        if step.unsigned_abs() > seen.step.unsigned_abs() {
            (seen.step, seen.step_at) = (step, at);
        }
        seen.last = offset_ns;
        seen.lowest = seen.lowest.min(offset_ns);
        seen.highest = seen.highest.max(offset_ns);
    }

    /// What was seen; `None` without a reading.
    #[must_use]
    pub fn report(&self, origin: Nanos) -> Option<WallClock> {
        self.seen.map(|seen| WallClock {
            step_s: seconds(Nanos(seen.step.unsigned_abs())).copysign(if seen.step < 0 {
                -1.0
            } else {
                1.0
            }),
            t: since(seen.step_at, origin),
            range_s: seconds(Nanos(seen.highest.abs_diff(seen.lowest))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn a_clock_that_is_set_back_and_put_right_again_is_seen() {
        let mut log = WallClockLog::default();
        for (at, offset) in [(0, 50 * SECOND), (1, 47 * SECOND), (2, 50 * SECOND)] {
            log.observe(offset, Nanos::SECOND * at);
        }
        let seen = log.report(Nanos::ZERO).unwrap();
        assert_eq!((seen.step_s, seen.t, seen.range_s), (-3.0, 1.0, 3.0));
    }

    #[test]
    fn many_small_corrections_are_a_range_and_no_step() {
        let mut log = WallClockLog::default();
        (0..100).for_each(|n| log.observe(n * 50_000, Nanos(n.unsigned_abs())));
        let seen = log.report(Nanos::ZERO).unwrap();
        assert!(seen.step_s < 0.000_1 && seen.range_s > 0.004);
    }

    #[test]
    fn without_a_reading_nothing_is_said() {
        assert!(WallClockLog::default().report(Nanos::ZERO).is_none());
    }
}
