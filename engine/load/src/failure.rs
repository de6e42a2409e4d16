//! How requests and connections fail, and the evidence of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use touchstone_exchange::CODES;

/// How a request or a connection failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum ErrorClass {
    /// A connection attempt was refused.
    Refused,
    /// The connection was reset while a request was under way.
    Reset,
    /// The server closed inside a response.
    ClosedMidResponse,
    /// The server closed before the first byte of a response.
    ClosedBeforeResponse,
    /// The server closed a kept connection under a request of which not a byte was answered, and which was not sent
    /// again: it is not idempotent (RFC 9110 section 9.2.2), repeating is off, or no other connection could be opened.
    KeptConnectionClosed,
    /// The server closed a connection at rest, or as a request came that may be sent once more.
    ClosedIdle,
    /// Bytes on a connection that carried no request, and no notice of its end.
    UnaskedBytes,
    /// No complete response within the limit.
    Timeout,
    /// Bytes that are not a response of the protocol.
    Malformed,
    /// A complete response with a status that was not expected.
    WrongStatus,
    /// A complete response with a body that was not expected.
    WrongBody,
    /// A complete response with a head that was not expected.
    WrongHeader,
    /// A connection attempt failed otherwise, or took longer than the limit.
    ConnectFailed,
    /// HTTP/2: the server gave up the request's stream (`RST_STREAM`), or refused it a second time.
    StreamReset,
    /// HTTP/2: the server said that it goes away (`GOAWAY`), and did not answer the request.
    GoingAway,
    /// A stream with an event that was not expected; over a WebSocket an echo that was not expected.
    WrongEvent,
    /// A stream that ended, or went on, without an event.
    LostEvent,
    /// A stream with an event that came twice, or an echo that did.
    DoubledEvent,
    /// A stream with an event that came out of order, or belongs to another stream; or an echo that came behind a later one.
    DisorderedEvent,
    /// A gRPC call that ended with another status than expected.
    GrpcStatus,
}

/// Errors of one class that are kept as evidence.
pub const KEPT: u64 = 20;

/// Errors by class, in the order of [`ERROR_CLASSES`].
pub type ErrorCounts = [u64; ERROR_CLASSES.len()];

/// Every class, in the result's order.
pub const ERROR_CLASSES: [(ErrorClass, &str); 20] = [
    (ErrorClass::Refused, "refused"),
    (ErrorClass::Reset, "reset"),
    (ErrorClass::ClosedMidResponse, "closed_mid_response"),
    (ErrorClass::ClosedBeforeResponse, "closed_before_response"),
    (ErrorClass::KeptConnectionClosed, "kept_connection_closed"),
    (ErrorClass::ClosedIdle, "closed_idle"),
    (ErrorClass::UnaskedBytes, "unasked_bytes"),
    (ErrorClass::Timeout, "timeout"),
    (ErrorClass::Malformed, "malformed"),
    (ErrorClass::WrongStatus, "wrong_status"),
    (ErrorClass::WrongBody, "wrong_body"),
    (ErrorClass::WrongHeader, "wrong_header"),
    (ErrorClass::ConnectFailed, "connect_failed"),
    (ErrorClass::StreamReset, "stream_reset"),
    (ErrorClass::GoingAway, "going_away"),
    (ErrorClass::WrongEvent, "wrong_event"),
    (ErrorClass::LostEvent, "lost_event"),
    (ErrorClass::DoubledEvent, "doubled_event"),
    (ErrorClass::DisorderedEvent, "disordered_event"),
    (ErrorClass::GrpcStatus, "grpc_status"),
];

impl ErrorClass {
    /// Whether a request failed, and not a connection that carried none.
    #[must_use]
    pub const fn is_of_request(self) -> bool {
        !matches!(
            self,
            Self::Refused | Self::ConnectFailed | Self::ClosedIdle | Self::UnaskedBytes
        )
    }

    /// Whether a whole response came that was not the expected one.
    #[must_use]
    pub const fn is_wrong_response(self) -> bool {
        matches!(
            self,
            Self::WrongStatus
                | Self::WrongBody
                | Self::WrongHeader
                | Self::WrongEvent
                | Self::LostEvent
                | Self::DoubledEvent
                | Self::DisorderedEvent
                | Self::GrpcStatus
        )
    }
}

/// Errors by the names of their classes: those of requests, and those of connections.
#[must_use]
pub fn by_class(
    count: impl Fn(ErrorClass) -> u64,
) -> (BTreeMap<String, u64>, BTreeMap<String, u64>) {
    let named = |(class, name): &(ErrorClass, &str)| {
        (class.is_of_request(), (*name).to_owned(), count(*class))
    };
    let (requests, connections): (Vec<_>, Vec<_>) = ERROR_CLASSES
        .iter()
        .map(named)
        .partition(|(of_request, ..)| *of_request);
    let sums = |part: Vec<(bool, String, u64)>| {
        part.into_iter()
            .map(|(_, name, count)| (name, count))
            .collect()
    };
    (sums(requests), sums(connections))
}

/// A status in a result: of a gRPC call its code's name. HTTP has no status below 100.
#[must_use]
pub fn status_name(status: u16) -> String {
    match CODES.get(usize::from(status)) {
        Some(name) => (*name).to_owned(),
        None => status.to_string(),
    }
}

/// One of the first errors of its class.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct FirstError {
    /// Its class.
    pub class: ErrorClass,
    /// Seconds since the first intended send.
    pub t: f64,
    /// The request's name; none for an error of a connection without a request.
    pub request: Option<String>,
    /// The request's first bytes, 4 KiB at most.
    pub sent: Option<String>,
    /// The response's first bytes, 4 KiB at most.
    pub received: Option<String>,
    /// What was wrong.
    pub why: String,
}
