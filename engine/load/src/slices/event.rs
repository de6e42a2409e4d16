//! What a slices job tells while it goes on.

use schemars::JsonSchema;
use serde::Serialize;

use touchstone_exchange::ask::Answer;

use super::record::SliceRecord;

/// What a slices job tells while it goes on.
#[derive(Debug, Clone, JsonSchema, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum SliceEvent {
    /// A contender's connections are set up, as far as they could be; before any order is followed.
    Connected {
        /// Its place in the job.
        contender: usize,
        /// Its name.
        name: String,
        /// Established.
        established: u64,
        /// Asked for.
        asked: u64,
        /// Seconds that it took.
        seconds: f64,
    },
    /// A turn is over.
    Slice(Box<SliceRecord>),
    /// What was asked between the requests of a load was answered.
    Answered {
        /// The answer, as in a session of `ask`.
        answer: Box<Answer>,
    },
    /// All turns of an order are over.
    Done {
        /// The order's number, from 0.
        order: u64,
    },
    /// A contender has not one connection. Sent once until it has one again; its turns pass, the others go on.
    Fatal {
        /// Its place in the job.
        contender: usize,
        /// Its name.
        name: String,
        /// Why, and what to do.
        why: String,
    },
}
