//! Orders to the relay, and its answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// One line of standard input. Orders are carried out as they come; each is answered by one line. The end of standard
/// input ends the relay.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// Connects new connections to this address. Those of before are cut.
    Aim {
        /// `IP:PORT` of the dependency.
        #[schemars(with = "String")]
        to: SocketAddr,
    },
    /// Does this to connections from now on, in place of the act before.
    Act {
        /// What is done.
        act: Act,
    },
    /// Changes nothing; the counts are asked for.
    Count,
}

/// What the relay does to connections.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Act {
    /// Passes bytes on as they come. What an earlier act held goes first.
    Pass,
    /// Holds all bytes and all ends of connections, in both directions. New connections are accepted, and nothing comes
    /// of them.
    Stall,
    /// Holds what the dependency sends for a while.
    Slow {
        /// Seconds that each part is held.
        delay_s: f64,
        /// Seconds by which a part may be held longer or shorter, drawn evenly.
        jitter_s: f64,
    },
    /// Passes on what the dependency sends at a few bytes per second and connection.
    Drip {
        /// Bytes per second.
        bytes_per_s: f64,
    },
    /// Closes the port and resets all connections: nobody listens.
    Refuse,
    /// Resets all connections at once; new ones are served.
    Reset,
    /// Serves this number of connections. The newest ones beyond it are reset, and further ones are closed when they have
    /// been accepted.
    Limit {
        /// Connections that are served.
        connections: u32,
    },
}

impl Act {
    /// Refuses numbers that say nothing of when bytes are passed on.
    ///
    /// # Errors
    /// A sentence that names the number.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        match *self {
            Self::Slow { delay_s, jitter_s } if delay_s < 0.0 || jitter_s < 0.0 => {
                Err("delay_s and jitter_s must be at least 0")
            }
            Self::Drip { bytes_per_s } if bytes_per_s <= 0.0 => Err("bytes_per_s must be above 0"),
            _ => Ok(()),
        }
    }
}

/// The answer to an order.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Answer {
    /// When the order had been carried out, in seconds since the Unix epoch.
    pub at_unix_s: f64,
    /// What was counted since the relay began.
    pub counts: Counts,
    /// Why the order was not carried out; null if it was.
    pub error: Option<String>,
}

/// What was counted since the relay began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Counts {
    /// Connections of the service that were accepted.
    pub accepted: u64,
    /// Connections of the service that are open now.
    pub open: u64,
    /// Connections that were closed because too many were open.
    pub turned_away: u64,
    /// Connections that an act reset.
    pub cut: u64,
    /// Connections for which the dependency could not be reached.
    pub unreached: u64,
    /// How often the service began to speak: once a connection, and each time after the dependency had spoken.
    pub turns: u64,
    /// Bytes that the service sent.
    pub from_service: u64,
    /// Bytes that the dependency sent.
    pub from_dependency: u64,
}
