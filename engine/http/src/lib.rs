//! HTTP/1.1 responses (RFC 9112), parsed as they come: split anywhere, framed in any of the ways the RFC knows; and URLs.
//!
//! The one parser of responses of a client that measures: of the load generator, whose bytes it takes as they lie in the receive buffer,
//! and of single exchanges. It is strict: where a response does not say clearly where it ends, all that follows on the
//! connection is in doubt, so it is [`Malformed`] and not repaired. Two faults of framing that the RFC lets a client repair
//! count as malformed too: `Transfer-Encoding` together with `Content-Length` (section 6.3), and `Transfer-Encoding` in an
//! HTTP/1.0 response (section 6.1).

#![forbid(unsafe_code)]

mod address;
mod field;
mod head;
mod response;
mod url;

pub use address::{first_that_answers, reach};
pub use field::{field_lines, field_value, is_control, is_token, unfold};
pub use head::{Framing, Head, MAX_HEAD, media_type, parse_head};
pub use response::{Fed, ResponseParser};
pub use url::{BadUrl, Url, has_unix_scheme};

/// Why bytes are not an HTTP/1.1 response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);
