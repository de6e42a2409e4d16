//! The bounds result.

use crate::job::Job;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Schema name of [`BoundsResult`].
pub const SCHEMA: &str = "touchstone.bounds/1";

/// The bounds of a service.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct BoundsResult {
    /// `touchstone.bounds/1`.
    pub schema: String,
    /// The job as it was understood, defaults filled in.
    pub job: Job,
    /// Whether a signal ended the job early.
    pub interrupted: bool,
    /// Why no bounds were looked for, in a sentence: the plain request was not answered as expected.
    pub failure: Option<String>,
    /// Connections at rest, each after one response.
    pub idle: Vec<Quiet>,
    /// Connections on which nothing was sent.
    pub silent: Vec<Quiet>,
    /// Connections on which half of a request's head was sent.
    pub half_sent: Vec<Quiet>,
    /// The first response's `Keep-Alive` field, if it had one.
    pub keep_alive: Option<String>,
    /// Responses on one connection.
    pub responses: Option<Responses>,
    /// Bytes of one field line, its end included.
    pub field: Option<Limit>,
    /// Fields that a request has, those of the plain one included.
    pub fields: Option<Limit>,
    /// Bytes of the request's target.
    pub target: Option<Limit>,
    /// Whether HTTP/2 without TLS is answered to a client that begins with its preface.
    pub h2c: bool,
}

/// A connection on which the client sends nothing more.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Quiet {
    /// When the service closed it, in seconds; null if it was open at the end of the watch.
    pub closed_s: Option<f64>,
    /// Whether that was a reset.
    pub reset: bool,
    /// The status of the response that came before the end, if one came.
    pub status: Option<u16>,
}

/// The responses on one connection.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Responses {
    /// Right responses until the connection ended, or as many as were asked for.
    pub count: u32,
    /// Whether the service ended the connection.
    pub ended: bool,
    /// Whether the last response announced that (`Connection: close`).
    pub announced: bool,
}

/// A bound of a request's head.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Limit {
    /// The most that was answered as expected.
    pub accepted: u32,
    /// The least that was not; null if all that was tried was accepted.
    pub refused: Option<u32>,
    /// The status of the refusal; null without a response.
    pub status: Option<u16>,
    /// Without a response: what came in its place.
    pub instead: Option<Instead>,
}

/// What comes in place of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Instead {
    /// The connection's end.
    Closed,
    /// The connection's end, by a reset.
    Reset,
    /// Bytes that are no response.
    NotHttp,
    /// Nothing within the time that a response may take.
    Nothing,
}
