//! What became of a request, and how that is known.
//!
//! A request that got not a byte of a response was read by the service, or it was not. Linux shows which: a socket that
//! is closed while bytes lie unread in it sends a reset and not an end (tcp(7); `tcp_close` in net/ipv4/tcp.c), and one
//! that is already closed answers bytes that arrive with a reset. The client sees such a reset as an error of its socket,
//! even behind an end (EPIPE). An end without a reset means that the service had read the request and closed without
//! an answer. A service that resets on purpose (SO_LINGER of 0) looks as if it had not read.
//!
//! Over HTTP/2 the service says itself which requests it has not processed. If it does not, the kernel shows it in the same
//! way, unless the client has answered other frames since: what lies unread may then be these answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Answered as expected.
    Right,
    /// Answered otherwise.
    Wrong,
    /// Answered 503 (RFC 9110, section 15.6.4), or with the gRPC status `UNAVAILABLE`: refused, and nothing was done.
    Unavailable,
    /// Declined over HTTP/2 (RFC 9113, section 8.7): its stream is above the last of a GOAWAY, or was reset with
    /// `REFUSED_STREAM`. Nothing was done, and a client may send it again.
    Unprocessed,
    /// No connection: nobody listened any more.
    Refused,
    /// Sent on a kept connection that was closed before the service had read it. A client may send it again.
    Stale,
    /// Sent on a new connection, which was reset before the service had read it: it waited to be accepted. Or not sent,
    /// because the connection ended before TLS or HTTP/2 had begun on it.
    Unread,
    /// Read by the service, whose connection, or stream, ended without a byte of a response.
    Cut,
    /// The connection, or the stream, ended within its response.
    Broken,
    /// No response when the process had ended, or when the time was up.
    Unanswered,
    /// Something else of the connection, such as no room in the queue of those that wait to be accepted.
    Failed,
}

impl Outcome {
    /// Whether the request was refused, so that a client knows that nothing was done.
    pub(crate) const fn is_refusal(self) -> bool {
        matches!(self, Self::Refused | Self::Unavailable | Self::Unprocessed)
    }
}

/// Requests by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Outcomes {
    /// [`Outcome::Right`].
    pub right: u64,
    /// [`Outcome::Wrong`].
    pub wrong: u64,
    /// [`Outcome::Unavailable`].
    pub unavailable: u64,
    /// [`Outcome::Unprocessed`].
    pub unprocessed: u64,
    /// [`Outcome::Refused`].
    pub refused: u64,
    /// [`Outcome::Stale`].
    pub stale: u64,
    /// [`Outcome::Unread`].
    pub unread: u64,
    /// [`Outcome::Cut`].
    pub cut: u64,
    /// [`Outcome::Broken`].
    pub broken: u64,
    /// [`Outcome::Unanswered`].
    pub unanswered: u64,
    /// [`Outcome::Failed`].
    pub failed: u64,
}

impl Outcomes {
    pub(crate) fn add(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Right => &mut self.right,
            Outcome::Wrong => &mut self.wrong,
            Outcome::Unavailable => &mut self.unavailable,
            Outcome::Unprocessed => &mut self.unprocessed,
            Outcome::Refused => &mut self.refused,
            Outcome::Stale => &mut self.stale,
            Outcome::Unread => &mut self.unread,
            Outcome::Cut => &mut self.cut,
            Outcome::Broken => &mut self.broken,
            Outcome::Unanswered => &mut self.unanswered,
            Outcome::Failed => &mut self.failed,
        } += 1;
    }
}

/// Whether the service had read a request that got not a byte of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its connection ended, and no reset came.
    Read,
    /// Its connection was reset.
    NotRead,
    /// Its connection ended before it was sent.
    NotSent,
}

impl Fate {
    /// The request's outcome, by whether its connection had been used before.
    pub(crate) const fn outcome(self, used: bool) -> Outcome {
        match (self, used) {
            (Self::Read, _) => Outcome::Cut,
            (Self::NotRead, true) => Outcome::Stale,
            (Self::NotRead, false) | (Self::NotSent, _) => Outcome::Unread,
        }
    }
}
