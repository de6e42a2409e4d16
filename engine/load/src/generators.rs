//! Other machines that put the load on: each does a share of the job, and this engine merges what they report.
//!
//! The coordinator stays next to the server, whose process tree it watches on its own clock. Every time that goes to a
//! generator or comes from it is moved by the distance of the two clocks.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::{nanos, seconds};
use crate::report::{ProcessReport, ThreadReport};

/// A machine that puts a part of the load on.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratorNode {
    /// Its name in the result and in errors.
    pub name: String,
    /// A Unix socket. Each connection to it reaches standard input and output of a `touchstone-engine load --worker` there.
    pub link: PathBuf,
    /// Its CPUs to pin the threads to, in turn.
    pub cpus: Vec<u32>,
    /// Its limit of open files.
    pub open_files: u64,
    /// How far its `CLOCK_MONOTONIC` is ahead of this machine's, in seconds.
    pub clock_ahead_s: f64,
    /// How far off that may be, in seconds.
    pub clock_residual_s: f64,
}

/// One generator's part in a result.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)] // Each field is described in docs/engine-protocol.md, under the same name.
pub struct GeneratorUse {
    pub name: String,
    pub processes: u32,
    pub connections: u64,
    pub began_s: f64,
    pub clock_ahead_s: f64,
    pub clock_residual_s: f64,
    pub sent: u64,
    pub ok: u64,
    pub errors: u64,
    pub cpu_s: f64,
    pub busiest: f64,
}

impl GeneratorNode {
    /// A time of this machine on the generator's clock, both in nanoseconds.
    #[must_use]
    pub fn there(&self, here: u64) -> u64 {
        shifted(here, self.clock_ahead_s)
    }

    /// Moves every time of a report from the generator's clock to this machine's.
    pub fn bring_home(&self, report: &mut ProcessReport) {
        report.generator = Some(self.name.clone());
        for thread in &mut report.threads {
            for time in [
                &mut thread.start,
                &mut thread.begun,
                &mut thread.begin,
                &mut thread.end,
                &mut thread.finished,
                &mut thread.last_completion,
            ] {
                *time = shifted(*time, -self.clock_ahead_s);
            }
        }
    }

    /// What this generator did, from the reports of its processes.
    #[must_use]
    pub fn part(&self, processes: &[ProcessReport]) -> GeneratorUse {
        let own: Vec<&ProcessReport> = processes
            .iter()
            .filter(|process| process.generator.as_ref() == Some(&self.name))
            .collect();
        let threads: Vec<&ThreadReport> = own.iter().flat_map(|process| &process.threads).collect();
        let sum =
            |field: fn(&ThreadReport) -> u64| threads.iter().map(|thread| field(thread)).sum();
        GeneratorUse {
            name: self.name.clone(),
            processes: own.len() as u32,
            connections: sum(|thread| thread.established),
            began_s: threads
                .iter()
                .map(|thread| seconds(thread.begun) - seconds(thread.start))
                .fold(0.0, f64::max),
            clock_ahead_s: self.clock_ahead_s,
            clock_residual_s: self.clock_residual_s,
            sent: sum(|thread| thread.sent),
            ok: sum(|thread| thread.ok),
            errors: sum(|thread| thread.errors.iter().sum()),
            cpu_s: threads
                .iter()
                .map(|thread| thread.usage.user_s + thread.usage.system_s)
                .sum(),
            busiest: threads
                .iter()
                .map(|thread| thread.usage.busy())
                .fold(0.0, f64::max),
        }
    }
}

/// A time in nanoseconds moved by some seconds. 0 and `u64::MAX` stand for no time, and stay.
fn shifted(time: u64, by_s: f64) -> u64 {
    match time {
        0 | u64::MAX => time,
        _ if by_s < 0.0 => time.saturating_sub(nanos(-by_s)),
        _ => time.saturating_add(nanos(by_s)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_there_and_come_back() {
        for ahead in [-12_345.678_901_234, 0.0, 0.000_000_5, 987_654.321] {
            let node = GeneratorNode {
                name: "one".to_owned(),
                link: PathBuf::new(),
                cpus: vec![0],
                open_files: 1024,
                clock_ahead_s: ahead,
                clock_residual_s: 0.0,
            };
            let here = 20_000_000_000_000_u64;
            let back = shifted(node.there(here), -ahead);
            assert_eq!(back, here, "{ahead}");
            assert_eq!((node.there(0), node.there(u64::MAX)), (0, u64::MAX));
        }
    }
}
