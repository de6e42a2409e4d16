//! Methods that may change what the server keeps: a case that sends one is played only when that was asked for.

use touchstone_h2::frame::{FrameHead, Kind, PREFACE, fragment};
use touchstone_h2::{Decoder, Scratch};

/// Methods that change nothing (RFC 9110 9.2.1), and that of HTTP/2's preface (RFC 9113 3.4).
const SAFE: [&str; 5] = ["GET", "HEAD", "OPTIONS", "TRACE", "PRI"];

/// The first method in the octets that is not safe. Methods that no server knows count: a handler for "all other methods"
/// takes them. What no server can take for a method, because it is not a token, does not.
pub fn first_unsafe(octets: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(octets).replace("\r\n", "\n");
    let mut begins_message = true;
    for line in text.split(['\n', '\r']) {
        // A blank line ends a head or the content behind it, and what follows may be read as a request.
        let may_be_request = begins_message || line.to_ascii_lowercase().contains("http/");
        begins_message = line.trim_ascii().is_empty();
        if may_be_request && let Some(method) = method(line) {
            return Some(method.to_owned());
        }
    }
    None
}

/// Whether a header block in frames of HTTP/2 has a method that is not safe. A block that cannot be decoded has none.
pub fn unsafe_in_frames(mut octets: &[u8]) -> bool {
    let (mut decoder, mut scratch, mut block) =
        (Decoder::default(), Scratch::default(), Vec::new());
    octets = octets.strip_prefix(PREFACE).unwrap_or(octets);
    let mut found = false;
    while let Some((head, rest)) = octets.split_first_chunk() {
        let head = FrameHead::read(head);
        let payload = &rest[..head.length.min(rest.len())];
        octets = &rest[payload.len()..];
        match head.kind {
            Kind::HEADERS => block = fragment(head, payload).unwrap_or(payload).to_vec(),
            Kind::CONTINUATION => block.extend_from_slice(payload),
            _ => continue,
        }
        // What comes before a fault counts.
        let _ = decoder.decode(&block, FIELDS, &mut scratch, |name, value| {
            let safe = SAFE.iter().any(|safe| safe.as_bytes() == value);
            found |= name == b":method" && !safe;
        });
    }
    found
}

/// Most octets of the fields of one block.
const FIELDS: usize = 1 << 20;

/// The method of a request-line, if it is a token and none of the safe ones.
fn method(line: &str) -> Option<&str> {
    let mut words = line.split_ascii_whitespace();
    let (first, target) = (words.next()?, words.next()?);
    // Content may stand right before a request: `helloGET` begins with five octets of content.
    let safe = SAFE.iter().any(|safe| first.ends_with(safe));
    let is_target = target.starts_with(|first: char| {
        matches!(first, '/' | '*' | '%') || first.is_ascii_alphanumeric()
    });
    let is_size = first.bytes().all(|octet| octet.is_ascii_digit());
    (!safe && is_target && !is_size && first.bytes().all(is_token)).then_some(first)
}

const fn is_token(octet: u8) -> bool {
    octet.is_ascii_alphanumeric()
        || matches!(octet, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_change_something_are_found() {
        for (text, method) in [
            ("DELETE /a HTTP/1.1\r\nHost: x\r\n\r\n", "DELETE"),
            (
                "GET / HTTP/1.1\r\nHost: x\r\n\r\nPOST / HTTP/1.1\r\n\r\n",
                "POST",
            ),
            (
                "GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nPUT /a HTTP/1.1\r\n\r\n",
                "PUT",
            ),
            ("PATCH\t/a\tHTTP/1.1\r\n\r\n", "PATCH"),
            ("POST /a\r\n", "POST"),
            ("\r\n\r\nPOST /a http/1.1\r\n\r\n", "POST"),
            ("CONNECT x:443 HTTP/1.1\r\n\r\n", "CONNECT"),
            ("FOO /a HTTP/1.1\r\n\r\n", "FOO"),
            ("get /a HTTP/1.1\r\n\r\n", "get"),
            ("helloDELETE /a HTTP/1.1\r\n\r\n", "helloDELETE"),
        ] {
            assert_eq!(
                first_unsafe(text.as_bytes()).as_deref(),
                Some(method),
                "{text:?}"
            );
        }
    }

    #[test]
    fn methods_in_header_blocks_are_found() {
        use crate::template::{Values, expand};
        for (text, expected) in [
            ("{preface}{get:1}", false),
            ("{get:1}{frame:headers:sh:3:{block:DELETE}}", true),
            (
                "{frame:headers:s:1:{own}}{frame:continuation:h:1:{pseudo:PATCH}}",
                true,
            ),
            ("{frame:headers:shp:1:{hex:01}{block:POST}{hex:00}}", true),
            ("{frame:headers:sh:1:{field::method=get}}", true),
            (
                "{frame:data:s:1:DELETE}{frame:headers:sh:1:{hex:ff}}",
                false,
            ),
        ] {
            let octets = expand(text, &Values::sample()).unwrap();
            assert_eq!(unsafe_in_frames(&octets), expected, "{text}");
        }
    }

    #[test]
    fn safe_methods_fields_and_content_are_not() {
        for text in [
            "GET / HTTP/1.1\r\nHost : x\r\nX-A: POST\r\n folded POST line\r\n\r\n",
            "HEAD / HTTP/1.1\r\n\r\nOPTIONS * HTTP/1.1\r\n\r\nTRACE / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n",
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5 5\r\nhello\r\n0\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "G\0T / HTTP/1.1\r\n\r\n",
            "",
        ] {
            assert_eq!(first_unsafe(text.as_bytes()), None, "{text:?}");
        }
    }
}
