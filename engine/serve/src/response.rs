//! Responses as bytes, built once.

/// A response in the forms that a connection may need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canned {
    /// HTTP/1.1, connection kept.
    kept: Vec<u8>,
    /// With `Connection: keep-alive`, for HTTP/1.0.
    kept_old: Vec<u8>,
    /// With `Connection: close`.
    closed: Vec<u8>,
    /// Length of the body at the end of each form.
    body: usize,
}

impl Canned {
    /// Builds a response.
    #[must_use]
    pub fn new(status: u16, content_type: &str, body: &[u8]) -> Self {
        let form = |connection: &str| write(status, content_type, connection, body);
        Self {
            kept: form(""),
            kept_old: form("Connection: keep-alive\r\n"),
            closed: form("Connection: close\r\n"),
            body: if has_body(status) { body.len() } else { 0 },
        }
    }

    /// The bytes for a request: HTTP/1.0 or not, connection kept or not, HEAD or not.
    #[must_use]
    pub fn bytes(&self, old: bool, keep_alive: bool, head: bool) -> &[u8] {
        let form = match (keep_alive, old) {
            (true, false) => &self.kept,
            (true, true) => &self.kept_old,
            (false, _) => &self.closed,
        };
        if head {
            &form[..form.len() - self.body]
        } else {
            form
        }
    }
}

/// A response that is closed after, for a request that cannot be understood.
pub fn refusal(status: u16) -> Vec<u8> {
    write(status, "text/plain", "Connection: close\r\n", b"")
}

/// Whether a response of this status has content at all (RFC 9110 section 6.4.1).
pub const fn has_body(status: u16) -> bool {
    !matches!(status, 100..=199 | 204 | 304)
}

/// A response for this moment. One that has no content says no length of it either: RFC 9110 section 8.6 forbids it for
/// 204, and the length in a 304 would be that of an answer that nobody gave.
pub fn write(status: u16, content_type: &str, connection: &str, body: &[u8]) -> Vec<u8> {
    let reason = reason(status);
    if !has_body(status) {
        return format!("HTTP/1.1 {status} {reason}\r\n{connection}\r\n").into_bytes();
    }
    let length = body.len();
    let mut bytes = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\n{connection}Content-Length: {length}\r\n\r\n"
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// The reason phrases of RFC 9110 that these servers are likely to be asked for; it may be empty (RFC 9112 section 4).
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "",
    }
}
