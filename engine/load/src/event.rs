//! What a run tells while it goes on.

use schemars::JsonSchema;
use serde::Serialize;

/// What a load tells while it goes on.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The connections are set up, as far as they could be.
    Connected {
        /// Established.
        established: u64,
        /// Asked for.
        asked: u64,
        /// Seconds that it took.
        seconds: f64,
    },
    /// A phase begins.
    Phase {
        /// `warmup`, `load`, `drain` or `idle`.
        name: &'static str,
    },
    /// Counts since the first intended send.
    Progress {
        /// Seconds since the first intended send.
        t: f64,
        /// Requests sent.
        sent: u64,
        /// Correct responses.
        ok: u64,
        /// Errors.
        errors: u64,
        /// Connections established now.
        connections: u64,
        /// Requests due and unsent.
        queue: u64,
    },
}
