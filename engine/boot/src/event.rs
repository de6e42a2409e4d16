//! What a boot job tells while it goes on.

use crate::result::{FailureKind, Run};
use schemars::JsonSchema;
use serde::Serialize;

/// What a boot job tells while it goes on.
#[derive(Debug, Clone, JsonSchema, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A start is done.
    Run {
        /// From 0.
        number: u32,
        /// Seconds from exec to the last byte of the first valid response; null when there was none.
        first_response_s: Option<f64>,
        /// What went wrong.
        failure: Option<FailureKind>,
    },
}

impl Event {
    pub(crate) fn of(number: u32, run: &Run) -> Self {
        Self::Run {
            number,
            first_response_s: run.first_response_s,
            failure: run.failure,
        }
    }
}
