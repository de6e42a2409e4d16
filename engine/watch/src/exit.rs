//! How a process ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use touchstone_sys::clock::Nanos;
use touchstone_sys::process::{self, Ending};

/// How the root process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema, Serialize, Deserialize)]
pub struct Exit {
    /// Its pid.
    pub pid: i32,
    /// Exit code, where it ended by itself and the status could be read.
    pub code: Option<i32>,
    /// Signal, where one ended it and the status could be read.
    pub signal: Option<i32>,
    /// When this was noticed, on `CLOCK_MONOTONIC`; the report has it as `t`.
    #[serde(skip)]
    pub at: Nanos,
}

impl Exit {
    /// The exit of a process that has ended; `None` if it is unknown.
    #[must_use]
    pub fn new(pid: i32, ending: Option<Ending>, at: Nanos) -> Self {
        Self {
            pid,
            code: ending.and_then(Ending::code),
            signal: ending.and_then(Ending::signal),
            at,
        }
    }

    /// A root that is seen to be gone: the status comes from the kernel without reaping when it is a child of ours, else
    /// from the zombie's `stat`, else it stays unknown.
    #[must_use]
    pub fn observe(pid: i32, zombie_status: Option<i32>, at: Nanos) -> Self {
        let ending = process::peek(pid).or_else(|| Ending::from_status(zombie_status?));
        Self::new(pid, ending, at)
    }
}
