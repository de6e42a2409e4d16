//! What the engine itself used: CPU, waiting and memory. A generator that is short of CPU measures itself.

use serde::{Deserialize, Serialize};
use touchstone_sys::clock::{ThreadTimes, thread_times};
use touchstone_sys::cpus;
use touchstone_watch::quotas;

use crate::clock::{Nanos, now, seconds};
use crate::error::Error;

/// CPU and waiting of one thread over the measured window.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Usage {
    /// How long the window was.
    pub wall: Nanos,
    /// Seconds in user mode.
    pub user_s: f64,
    /// Seconds in the kernel.
    pub system_s: f64,
    /// Seconds in which the thread could have run and another had the CPU.
    pub delayed_s: Option<f64>,
    /// Seconds for which CPU quotas kept the process's groups off the CPU, summed over CPUs; `None` without a quota.
    #[serde(default)]
    pub throttled_s: Option<f64>,
    #[serde(skip)]
    from: Option<Reading>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    at: Nanos,
    times: ThreadTimes,
    delayed: Option<Nanos>,
    throttled: Option<Nanos>,
}

/// How long the calling thread has been ready to run so far, and another had the CPU; `None` if the kernel does not tell.
#[must_use]
pub fn waited_for_cpu() -> Option<Nanos> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    // The second field is the time spent waiting on a run queue, in nanoseconds.
    text.split_whitespace().nth(1)?.parse().ok().map(Nanos)
}

impl Reading {
    fn take() -> Self {
        Self {
            at: now(),
            times: thread_times(),
            delayed: waited_for_cpu(),
            throttled: quotas::throttled(),
        }
    }
}

impl Usage {
    /// The window begins.
    pub fn begin(&mut self) {
        self.from = Some(Reading::take());
    }

    /// The window ends.
    pub fn end(&mut self) {
        let Some(from) = self.from else { return };
        let to = Reading::take();
        self.wall = to.at - from.at;
        self.user_s = to.times.user.saturating_sub(from.times.user).as_secs_f64();
        self.system_s = to
            .times
            .system
            .saturating_sub(from.times.system)
            .as_secs_f64();
        let grown =
            |from: Option<Nanos>, to: Option<Nanos>| Some(seconds(to?.saturating_sub(from?)));
        self.delayed_s = grown(from.delayed, to.delayed);
        self.throttled_s = grown(from.throttled, to.throttled);
    }

    /// Adds what was used in another window.
    pub fn add(&mut self, other: &Self) {
        let is_first = self.wall == Nanos::ZERO;
        let sum = |own: Option<f64>, other: Option<f64>| {
            if is_first { other } else { Some(own? + other?) }
        };
        self.delayed_s = sum(self.delayed_s, other.delayed_s);
        self.throttled_s = sum(self.throttled_s, other.throttled_s);
        self.wall += other.wall;
        self.user_s += other.user_s;
        self.system_s += other.system_s;
    }

    /// The share of the window in which the thread ran.
    #[must_use]
    pub fn busy(&self) -> f64 {
        if self.wall == Nanos::ZERO {
            0.0
        } else {
            (self.user_s + self.system_s) / seconds(self.wall)
        }
    }
}

/// The process's peak resident memory in bytes.
#[must_use]
pub fn peak_rss() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok())
        .map_or(0, |kib| kib * 1024)
}

/// Restricts the calling thread, and those that it starts, to these CPUs.
///
/// # Errors
/// [`Error::System`] if the kernel refuses, as it does when the machine has none of them.
pub fn restrict(cpus: &[u32]) -> Result<(), Error> {
    let numbers: Vec<usize> = cpus.iter().map(|cpu| *cpu as usize).collect();
    cpus::bind(&numbers).map_err(|source| Error::System {
        what: format!("pinning the generator to CPUs {cpus:?}"),
        source,
    })
}
