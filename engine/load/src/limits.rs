//! Limits that the lab applies as well. Made from `src/touchstone/vocabulary/limits.py` by
//! `python -m tests.engine.limits`.

/// A thread of the generator that is busy for more of the time is the bottleneck itself: a queue's wait grows as
/// 1/(1 - use), so latencies are then twenty service times of the generator's own.
pub(crate) const GENERATOR_FULL: f64 = 0.95;

/// A CPU quota that stopped a process for more of the window is seen at the 99th percentile: a period is 100 ms, so
/// that about one in ten was cut short.
pub(crate) const THROTTLED: f64 = 0.01;

/// Requests sent later than this were held up: a pacing slot and a timer's wake-up cost some hundred microseconds.
pub(crate) const LATE_S: f64 = 0.001;

/// A server that answers a smaller share of what comes gains a queue.
pub(crate) const ANSWERED: f64 = 0.99;

/// Random arrivals are fewer than the rate says, by more than this many standard deviations, hardly ever by chance.
pub(crate) const DEVIATIONS: f64 = 3.0;
