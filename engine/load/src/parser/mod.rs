//! HTTP/1.1 responses (RFC 9112), as they come: split anywhere, framed in any of the ways the RFC knows.

mod head;
mod response;

pub use head::{Framing, Head, MAX_HEAD, parse_head};
pub use response::{Fed, Response};

/// Why bytes are not an HTTP/1.1 response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);
