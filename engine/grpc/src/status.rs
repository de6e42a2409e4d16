//! The status of a call, and its deadline, as fields of HTTP/2.
//!
//! Source: "gRPC over HTTP2", <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>.

use std::fmt;
use std::time::Duration;

use percent_encoding::percent_decode;
use touchstone_http::field_lines;

use crate::frame::Broken;

/// The names of the status codes; a code's number is its place.
pub const CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// A status code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(u8);

impl Code {
    /// The call succeeded.
    pub const OK: Self = Self(0);

    /// The code with a name, such as `NOT_FOUND`, or a number from 0 to 16.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let named = CODES
            .iter()
            .position(|name| name.eq_ignore_ascii_case(text));
        let number = || text.parse().ok().filter(|number| *number < CODES.len());
        Some(Self(named.or_else(number)? as u8))
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        CODES[self.0 as usize]
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.name(), self.0)
    }
}

/// How a call ended, as the server says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The code; a number that no code has counts as `UNKNOWN`, as in gRPC's own clients.
    pub code: Code,
    /// The text of `grpc-message`, percent-decoded.
    pub message: String,
    /// Whether the head holds it, and no trailers came (trailers-only).
    pub is_in_head: bool,
}

impl Status {
    /// Reads the status of a response from its head, behind whose empty line its trailers are.
    ///
    /// # Errors
    /// [`Broken`] when no status is there, or none that is a number.
    pub fn read(whole_head: &[u8]) -> Result<Self, Broken> {
        let end = whole_head.windows(4).position(|four| four == b"\r\n\r\n");
        let (head, trailers) = whole_head.split_at(end.map_or(whole_head.len(), |end| end + 2));
        let is_in_head = trailers.len() <= 2;
        let fields = if is_in_head { head } else { trailers };
        let mut found = field_lines(fields, "grpc-status");
        let Some(value) = found.next() else {
            return Err(Broken(if is_in_head {
                "the response ended without trailers, which hold grpc-status".to_owned()
            } else {
                "the trailers hold no grpc-status".to_owned()
            }));
        };
        if found.any(|other| other != value) {
            return Err(Broken(
                "grpc-status is there twice, with two values".to_owned(),
            ));
        }
        let shown = String::from_utf8_lossy(value);
        let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        if !is_number {
            return Err(Broken(format!(
                "grpc-status is {shown:?}, which is not a number"
            )));
        }
        let text = field_lines(fields, "grpc-message")
            .next()
            .unwrap_or_default();
        let mut message = percent_decode(text).decode_utf8_lossy().into_owned();
        let code = Code::parse(&shown).unwrap_or_else(|| {
            message = format!("{message} (the server sent the unknown code {shown})");
            Code(2)
        });
        Ok(Self {
            code,
            message,
            is_in_head,
        })
    }
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "grpc-status {}", self.code)?;
        if self.message.is_empty() {
            return Ok(());
        }
        write!(out, ": {}", self.message.trim())
    }
}

/// The value of `grpc-timeout`: at most eight digits and a unit.
#[must_use]
pub fn timeout(limit: Duration) -> String {
    const MOST: u128 = 99_999_999;
    let units = [
        (limit.as_micros(), "u"),
        (limit.as_millis(), "m"),
        (u128::from(limit.as_secs()), "S"),
    ];
    // Milliseconds, unless they are too many or would cut the limit short.
    let whole = limit.as_micros().is_multiple_of(1000);
    let fits = |(number, unit): &&(u128, &str)| *number <= MOST && (*unit != "u" || !whole);
    let (number, unit) = units.iter().find(fits).unwrap_or(&(MOST, "S"));
    format!("{number}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Status, String> {
        Status::read(text.as_bytes()).map_err(|broken| broken.0)
    }

    #[test]
    fn a_status_is_in_the_trailers_or_in_a_head_without_trailers() {
        let status = read(
            "HTTP/2 200\r\na: b\r\n\r\ngrpc-status: 5\r\ngrpc-message: no %22x%22 %C3%A9\r\n\r\n",
        );
        let status = status.unwrap();
        assert_eq!(
            status.to_string(),
            "grpc-status NOT_FOUND (5): no \"x\" \u{e9}"
        );
        assert!(!status.is_in_head);
        let status = read("HTTP/2 200\r\ngrpc-status: 13\r\n\r\n").unwrap();
        assert!(status.is_in_head && status.code.name() == "INTERNAL");
        assert_eq!(status.to_string(), "grpc-status INTERNAL (13)");
    }

    #[test]
    fn a_status_that_is_missing_or_none_is_named() {
        let why = |text: &str| read(text).unwrap_err();
        assert!(why("HTTP/2 200\r\n\r\n").contains("without trailers"));
        // A status in the head is none where trailers follow.
        assert!(why("HTTP/2 200\r\ngrpc-status: 0\r\n\r\nx: y\r\n\r\n").contains("no grpc-status"));
        assert!(why("HTTP/2 200\r\n\r\ngrpc-status: \r\n\r\n").contains("not a number"));
        assert!(why("HTTP/2 200\r\n\r\ngrpc-status: ok\r\n\r\n").contains("\"ok\""));
        assert!(
            why("HTTP/2 200\r\n\r\ngrpc-status: 0\r\ngrpc-status: 1\r\n\r\n").contains("twice")
        );
        let unknown = read("HTTP/2 200\r\n\r\ngrpc-status: 99\r\n\r\n").unwrap();
        assert!(unknown.to_string().starts_with("grpc-status UNKNOWN (2)"));
        assert!(unknown.to_string().contains("99"));
    }

    #[test]
    fn a_deadline_keeps_to_eight_digits() {
        let says = |seconds: f64| timeout(Duration::from_secs_f64(seconds));
        assert_eq!(says(5.0), "5000m");
        assert_eq!(says(0.0005), "500u");
        assert_eq!(says(99_999.999), "99999999m");
        assert_eq!(says(604_800.0), "604800S");
    }

    #[test]
    fn codes_are_known_by_name_and_number() {
        assert_eq!(Code::parse("not_found"), Code::parse("5"));
        for none in ["17", "-1", "FINE", ""] {
            assert_eq!(Code::parse(none), None, "{none}");
        }
    }
}
