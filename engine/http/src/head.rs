//! Status line and header fields.

use crate::Malformed;
use crate::field::{is_control, is_fold, split_line, unfold};

/// The longest head that is accepted, in bytes.
pub const MAX_HEAD: usize = 64 * 1024;

/// How the end of the body is found (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// This many bytes; 0 for responses that have no body.
    Length(u64),
    /// Chunks, then trailers.
    Chunked,
    /// Until the server closes the connection.
    Close,
}

/// What the head of a response says about what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// How the body ends.
    pub framing: Framing,
    /// Whether the server keeps the connection after this response (RFC 9112, section 9.3).
    pub keep_alive: bool,
    /// Bytes of the head, the empty line included.
    pub len: usize,
    /// A number for its media type, parameters left out: equal for equal ones, 0 where none is said.
    pub media_type: u64,
    /// Whether the value of a field goes on in a further line; [`unfold`] puts such a head right.
    pub folded: bool,
}

impl Head {
    /// Whether another response to the same request follows (RFC 9110, section 15.2).
    #[must_use]
    pub const fn is_interim(&self) -> bool {
        self.status < 200 && self.status != 101
    }
}

#[derive(Default)]
struct Fields {
    length: Option<u64>,
    /// A `Content-Length` without a value, which may be in the line behind it.
    no_length: bool,
    transfer_encoding: bool,
    chunked: bool,
    chunked_last: bool,
    close: bool,
    keep_alive: bool,
    media_type: u64,
}

/// Parses the head at the start of `input`; `None` if its end has not come yet.
/// `to_head` says that the request was a HEAD, whose response has no body.
///
/// # Errors
/// [`Malformed`] as soon as no continuation could make the bytes a response.
pub fn parse_head(input: &[u8], to_head: bool) -> Result<Option<Head>, Malformed> {
    let prefix = b"HTTP/1.";
    let seen = input.len().min(prefix.len());
    if input[..seen] != prefix[..seen] {
        return Err(Malformed("the response does not begin with HTTP/1."));
    }
    let Some((line, mut at)) = take_line(input, 0)? else {
        return too_long(input.len());
    };
    let (minor, status) = status_line(line)?;
    let mut fields = Fields::default();
    let first = at;
    loop {
        let Some((line, next)) = take_line(input, at)? else {
            return too_long(input.len());
        };
        if line.is_empty() {
            at = next;
            break;
        }
        if let Err(malformed) = field(line, &mut fields) {
            // White space before the first field continues nothing (RFC 9112, section 2.2).
            if is_fold(line) && at > first {
                return folded(input, to_head);
            }
            return Err(malformed);
        }
        at = next;
    }
    if at > MAX_HEAD {
        return Err(Malformed("the head is longer than 64 KiB"));
    }
    let framing = framing(minor, status, to_head, &fields)?;
    let persistent = if minor == 0 {
        fields.keep_alive && !fields.close
    } else {
        !fields.close
    };
    let keep_alive = persistent && framing != Framing::Close && status != 101;
    Ok(Some(Head {
        status,
        framing,
        keep_alive,
        len: at,
        media_type: fields.media_type,
        folded: false,
    }))
}

/// A head in which a line is folded, read with spaces in place of the fold as RFC 9112 section 5.2 asks of a user agent.
#[cold]
fn folded(input: &[u8], to_head: bool) -> Result<Option<Head>, Malformed> {
    let mut flat = input[..input.len().min(MAX_HEAD + 1)].to_vec();
    unfold(&mut flat);
    let head = parse_head(&flat, to_head)?;
    Ok(head.map(|head| Head {
        folded: true,
        ..head
    }))
}

fn too_long(len: usize) -> Result<Option<Head>, Malformed> {
    if len >= MAX_HEAD {
        Err(Malformed("the head is longer than 64 KiB"))
    } else {
        Ok(None)
    }
}

/// The line at `at` without its CRLF, and where the next begins.
fn take_line(input: &[u8], at: usize) -> Result<Option<(&[u8], usize)>, Malformed> {
    let rest = &input[at..];
    match rest.iter().position(|byte| *byte == b'\n') {
        None => Ok(None),
        Some(end) if end > 0 && rest[end - 1] == b'\r' => {
            Ok(Some((&rest[..end - 1], at + end + 1)))
        }
        Some(_) => Err(Malformed("a line of the head ends with LF alone, not CRLF")),
    }
}

fn status_line(line: &[u8]) -> Result<(u8, u16), Malformed> {
    // "HTTP/1.x SP 3DIGIT SP [reason]"; the last space is missing in enough servers that RFC 9112 section 4 warns of it.
    let well_formed = line.len() >= 12
        && matches!(line[7], b'0' | b'1')
        && line[8] == b' '
        && line[9..12].iter().all(u8::is_ascii_digit)
        && line.get(12).is_none_or(|byte| *byte == b' ');
    if !well_formed {
        return Err(Malformed(
            "the status line is not HTTP/1.0 or HTTP/1.1, a space and three digits",
        ));
    }
    let status = line[9..12]
        .iter()
        .fold(0u16, |number, digit| number * 10 + u16::from(digit - b'0'));
    if status < 100 {
        return Err(Malformed("the status code is below 100"));
    }
    if line[12..].iter().any(|byte| is_control(*byte)) {
        return Err(Malformed("a control character in the status line"));
    }
    Ok((line[7] - b'0', status))
}

fn field(line: &[u8], fields: &mut Fields) -> Result<(), Malformed> {
    let (name, value) = split_line(line)?;
    match name.len() {
        10 if name.eq_ignore_ascii_case(b"connection") => {
            for option in value.split(|byte| *byte == b',') {
                let option = option.trim_ascii();
                fields.close |= option.eq_ignore_ascii_case(b"close");
                fields.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
            }
        }
        12 if name.eq_ignore_ascii_case(b"content-type") => fields.media_type = media_type(value),
        14 if name.eq_ignore_ascii_case(b"content-length") => content_length(value, fields)?,
        17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
            fields.transfer_encoding = true;
            transfer_codings(value, fields)?;
        }
        _ => {}
    }
    Ok(())
}

/// The number of a `Content-Type`'s media type in [`Head`]: FNV-1a, without regard to case (RFC 9110, section 8.3.1).
#[must_use]
pub fn media_type(value: &[u8]) -> u64 {
    let named = value.iter().take_while(|byte| **byte != b';');
    named.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
    })
}

fn transfer_codings(value: &[u8], fields: &mut Fields) -> Result<(), Malformed> {
    // Several lines are one list, and its empty elements count for nothing (RFC 9110, sections 5.3 and 5.6.1.2).
    let items = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    for item in items.filter(|item| !item.is_empty()) {
        let chunked = item.eq_ignore_ascii_case(b"chunked");
        if chunked && fields.chunked {
            // RFC 9112, section 6.1: one reader would take the chunks apart once, another twice.
            return Err(Malformed("chunked twice in Transfer-Encoding"));
        }
        fields.chunked |= chunked;
        fields.chunked_last = chunked;
    }
    Ok(())
}

fn content_length(value: &[u8], fields: &mut Fields) -> Result<(), Malformed> {
    if value.is_empty() {
        fields.no_length = true;
        return Ok(());
    }
    // A list of equal values stands for one (RFC 9110, section 8.6).
    for item in value.split(|byte| *byte == b',') {
        let item = item.trim_ascii();
        if item.is_empty() || item.len() > 18 || !item.iter().all(u8::is_ascii_digit) {
            return Err(Malformed("Content-Length is not a number"));
        }
        let number = item
            .iter()
            .fold(0u64, |number, digit| number * 10 + u64::from(digit - b'0'));
        if fields.length.is_some_and(|known| known != number) {
            return Err(Malformed("two different values of Content-Length"));
        }
        fields.length = Some(number);
    }
    Ok(())
}

fn framing(minor: u8, status: u16, to_head: bool, fields: &Fields) -> Result<Framing, Malformed> {
    if fields.no_length {
        return Err(Malformed("Content-Length is not a number"));
    }
    // RFC 9112 section 6.3, in its order.
    if to_head || status < 200 || status == 204 || status == 304 {
        return Ok(Framing::Length(0));
    }
    if !fields.transfer_encoding {
        return Ok(fields.length.map_or(Framing::Close, Framing::Length));
    }
    if fields.length.is_some() {
        // Here the RFC lets the coding win, but calls it an error: another reader may go by the length.
        return Err(Malformed("both Transfer-Encoding and Content-Length"));
    }
    if minor == 0 {
        return Err(Malformed("Transfer-Encoding in an HTTP/1.0 response"));
    }
    Ok(if fields.chunked_last {
        Framing::Chunked
    } else {
        Framing::Close
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Head {
        parse_head(text.as_bytes(), false).unwrap().unwrap()
    }

    #[test]
    fn the_framing_follows_the_rfc() {
        let with = |status: &str, fields: &str| {
            head(&format!("HTTP/1.1 {status}\r\n{fields}\r\n")).framing
        };
        assert_eq!(with("200 OK", "Content-Length: 5\r\n"), Framing::Length(5));
        assert_eq!(
            with("200 OK", "Content-Length: 5, 5\r\n"),
            Framing::Length(5)
        );
        assert_eq!(with("200 OK", "content-length:0\r\n"), Framing::Length(0));
        assert_eq!(
            with("200 OK", "Transfer-Encoding: chunked\r\n"),
            Framing::Chunked
        );
        assert_eq!(
            with("200 OK", "Transfer-Encoding: gzip, Chunked\r\n"),
            Framing::Chunked
        );
        assert_eq!(
            with("200 OK", "Transfer-Encoding: gzip\r\n"),
            Framing::Close
        );
        let two_lines = "Transfer-Encoding: ,chunked, \r\nTransfer-Encoding: \r\n";
        assert_eq!(with("200 OK", two_lines), Framing::Chunked);
        let not_last = "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n";
        assert_eq!(with("200 OK", not_last), Framing::Close);
        assert_eq!(with("200", ""), Framing::Close);
        assert_eq!(
            with("204 No Content", "Content-Length: 5\r\n"),
            Framing::Length(0)
        );
        assert_eq!(
            with("304 Not Modified", "Content-Length: 5\r\n"),
            Framing::Length(0)
        );
        assert_eq!(with("100 Continue", ""), Framing::Length(0));
        let to_head = parse_head(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true)
            .unwrap()
            .unwrap();
        assert_eq!(to_head.framing, Framing::Length(0));
    }

    #[test]
    fn a_media_type_has_a_number_of_its_own_whatever_its_case_and_parameters() {
        let number = |field: &str| head(&format!("HTTP/1.1 200 OK\r\n{field}\r\n")).media_type;
        let json = number("Content-Type: application/json\r\n");
        assert_eq!(
            json,
            number("content-type:Application/JSON;charset=utf-8\r\n")
        );
        assert_ne!(json, number("Content-Type: text/html\r\n"));
        assert_ne!(json, 0);
        assert_eq!(number(""), 0);
    }

    #[test]
    fn a_body_with_two_ends_is_refused() {
        let both = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n";
        let parse = |line: &str, fields: &str, to_head| {
            parse_head(format!("{line}\r\n{fields}\r\n").as_bytes(), to_head)
        };
        for fields in [
            both,
            "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
            "Transfer-Encoding: gzip\r\nContent-Length: 5\r\n",
        ] {
            assert!(
                parse("HTTP/1.1 200 OK", fields, false).is_err(),
                "{fields:?}"
            );
        }
        let chunked = "Transfer-Encoding: chunked\r\n";
        assert!(parse("HTTP/1.0 200 OK", chunked, false).is_err());
        assert!(parse("HTTP/1.1 200 OK", chunked, false).is_ok());
        // Where there is no body, nobody can take its end for another.
        assert!(parse("HTTP/1.1 200 OK", both, true).is_ok());
        assert!(parse("HTTP/1.1 304 Not Modified", both, false).is_ok());
    }

    #[test]
    fn persistence_follows_the_version_and_the_connection_field() {
        let kept = |line: &str| head(&format!("{line}\r\nContent-Length: 0\r\n\r\n")).keep_alive;
        assert!(kept("HTTP/1.1 200 OK"));
        assert!(!kept("HTTP/1.1 200 OK\r\nConnection: Close"));
        assert!(!kept("HTTP/1.1 200 OK\r\nConnection: foo, close"));
        assert!(!kept("HTTP/1.0 200 OK"));
        assert!(kept("HTTP/1.0 200 OK\r\nConnection: Keep-Alive"));
        assert!(!head("HTTP/1.1 200 OK\r\n\r\n").keep_alive);
    }

    #[test]
    fn what_is_no_response_is_refused_at_once() {
        for text in [
            "X",
            "HTTP/2 200\r\n",
            "HTTP/1.2 200 OK\r\n",
            "HTTP/1.1  200 OK\r\n",
            "HTTP/1.1 20 OK\r\n",
            "HTTP/1.1 099 OK\r\n",
            "HTTP/1.1 2000\r\n",
            "HTTP/1.1 200 OK\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n",
            "HTTP/1.1 200 OK\r\n: x\r\n",
            "HTTP/1.1 200 OK\r\nA b: x\r\n",
            "HTTP/1.1 200 OK\r\n folded\r\n",
            "HTTP/1.1 200 OK\r\n A: 1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n 6\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: 1\r\n \x01\r\n",
            "HTTP/1.1 200 OK\r\nA : 1\r\n",
            "HTTP/1.1 200 OK\r\nA: 1\0\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
            "HTTP/1.1 200 OK\r\nA: \x01\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        ] {
            assert!(parse_head(text.as_bytes(), false).is_err(), "{text:?}");
        }
        let endless = [&b"HTTP/1.1 200 OK\r\nA: "[..], &vec![b'a'; MAX_HEAD]].concat();
        assert!(parse_head(&endless, false).is_err());
    }

    #[test]
    fn every_beginning_of_a_head_waits_for_more() {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nServer: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nServer: x\r\n\ty\r\nContent-Length:\r\n 5\r\n\r\n",
        ] {
            for end in 0..text.len() {
                let begun = parse_head(&text.as_bytes()[..end], false);
                assert_eq!(begun, Ok(None), "{text:?} {end}");
            }
            assert_eq!(head(text).len, text.len());
        }
    }

    #[test]
    fn a_folded_field_is_read_as_one_line() {
        let fields = "Content-Length:\r\n 5\r\nConnection: x,\r\n\tclose\r\n";
        let parsed = head(&format!("HTTP/1.1 200 OK\r\n{fields}\r\n"));
        assert!(parsed.folded && !parsed.keep_alive);
        assert_eq!(parsed.framing, Framing::Length(5));
        assert!(!head("HTTP/1.1 200 OK\r\nA: 1\r\n\r\n").folded);
    }

    #[test]
    fn a_head_may_have_hundreds_of_fields() {
        let fields: String = (0..2000).map(|n| format!("X-{n}: value\r\n")).collect();
        let text = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 2\r\n\r\n");
        assert_eq!(head(&text).framing, Framing::Length(2));
    }
}
