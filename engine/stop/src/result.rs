//! The stop result.

use crate::job::Job;
use crate::outcome::{Outcome, Outcomes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Schema name of [`StopResult`].
pub const SCHEMA: &str = "touchstone.stop/1";

/// How a service ended. Times are seconds after the signal.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct StopResult {
    /// `touchstone.stop/1`.
    pub schema: String,
    /// The job as it was understood, defaults filled in.
    pub job: Job,
    /// Whether a signal ended the job itself.
    pub interrupted: bool,
    /// Why the service was not ended, in a sentence: it was not ready, or ended by itself before the signal.
    pub failure: Option<String>,
    /// From the signal until the process had ended; null if it had not when the time was up.
    pub stop_s: Option<f64>,
    /// Requests that ended before the signal.
    pub before: Outcomes,
    /// Requests that were under way at the signal.
    pub under_way: Outcomes,
    /// Requests that were due after the signal, until the process had ended.
    pub after: Outcomes,
    /// When the last right response was whole.
    pub last_right_s: Option<f64>,
    /// When a request was first refused: no connection, or 503.
    pub first_refused_s: Option<f64>,
    /// Responses after the signal that announced the connection's end (`Connection: close`).
    pub announced: u64,
    /// Connections at rest after one response.
    pub idle: Rested,
    /// Connections on which nothing was sent.
    pub silent: Rested,
    /// Connections on which half of a request was sent.
    pub half_sent: Rested,
    /// Streams that were open.
    pub streams: StreamsResult,
    /// Whether somebody still took connections at the address after the process had ended. False where the successor
    /// listens there.
    pub listens_after: bool,
    /// What the process that took over changed; null if none did.
    pub handover: Option<Handover>,
    /// How much later than due the latest request was sent, or would have been sent at the end, in seconds: the client's own
    /// lateness.
    pub latest_s: f64,
    /// The first requests that were not answered as expected, at most 100, of those that did not end before the signal.
    pub losses: Vec<Loss>,
}

/// Connections without a request under way.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Rested {
    /// Open at the signal.
    pub open: u64,
    /// Closed by the service before the signal.
    pub closed_before: u64,
    /// Closed from the signal on, until the process had ended.
    pub closed: u64,
    /// When the first of these was closed.
    pub first_closed_s: Option<f64>,
    /// When the last of these was closed.
    pub last_closed_s: Option<f64>,
    /// Responses that came on them from the signal on, by status.
    pub answered: BTreeMap<u16, u64>,
}

/// Streams that were open at the signal.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct StreamsResult {
    /// Open at the signal.
    pub open: u64,
    /// Ended before the signal.
    pub ended_before: u64,
    /// Ended as they should: by the end of the response, or by a close frame.
    pub ended: u64,
    /// Cut: their connections ended before, or the bytes on them were wrong.
    pub cut: u64,
    /// Still open when the process had ended, or the time was up.
    pub left: u64,
    /// When the last of these ended.
    pub last_ended_s: Option<f64>,
    /// Codes of close frames, where they had one, and how many.
    pub close_codes: BTreeMap<u16, u64>,
}

/// One process that takes the place of another.
#[derive(Debug, Clone, Copy, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Handover {
    /// The longest time without a right response, from the signal to the end of the load.
    pub gap_s: f64,
    /// Memory of the process tree that was ended, in bytes, while both ran; null if it could not be read.
    pub memory_bytes: Option<u64>,
    /// Memory of both process trees then, in bytes: that of the one, and the anonymous memory of the other, since both map
    /// the same files.
    pub both_bytes: Option<u64>,
}

/// A request that was not answered as expected.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Loss {
    /// When it was due.
    pub due_s: f64,
    /// When its outcome was known.
    pub ended_s: f64,
    /// What became of it.
    pub outcome: Outcome,
    /// What was seen, in words.
    pub evidence: String,
}
