//! What a hold job tells while it goes on.

use crate::result::Level;
use schemars::JsonSchema;
use serde::Serialize;

/// What a hold job tells while it goes on.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Connections are being opened; about once a second.
    Progress {
        /// Held so far.
        held: u64,
        /// To be held at this level.
        connections: u64,
    },
    /// A level is done.
    Level {
        /// To be held at this level.
        connections: u64,
        /// Held at the moment of its reading.
        held: u64,
        /// Connections opened per second in its last step; null when none were opened.
        open_rate: Option<f64>,
        /// Why the level was not tried.
        refused: Option<String>,
    },
}

impl Event {
    pub(crate) fn of(level: &Level) -> Self {
        Self::Level {
            connections: level.connections,
            held: level.held,
            open_rate: level.open_rate,
            refused: level.refused.as_ref().map(|refusal| refusal.reason.clone()),
        }
    }
}
