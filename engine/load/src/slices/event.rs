//! What a slices job tells while it goes on.

use schemars::JsonSchema;
use serde::Serialize;

use super::record::SliceRecord;

/// What a slices job tells while it goes on; serialised, one line of NDJSON.
#[derive(Debug, Clone, JsonSchema, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum SliceEvent {
    /// A contender's connections are set up, as far as they could be.
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
    /// All turns of an order are over.
    Done {
        /// The order's number, from 0.
        order: u64,
    },
    /// A contender cannot be loaded any more.
    Fatal {
        /// Its place in the job.
        contender: usize,
        /// Its name.
        name: String,
        /// Why, and what to do.
        why: String,
    },
}
