//! Request framing (RFC 9112), no more than an answer needs: where a request ends, its target, whether to go on.

use memchr::memchr;

/// A whole request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'b> {
    pub method: &'b [u8],
    pub target: &'b [u8],
    /// HTTP/1.0.
    pub old: bool,
    pub keep_alive: bool,
    /// It asks for another protocol.
    pub upgrades: bool,
    /// Bytes of head and body.
    pub length: usize,
}

/// What the bytes so far are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parse<'b> {
    Complete(Request<'b>),
    Partial,
    /// Not to be answered with anything but this status.
    Bad(u16),
}

/// A head must end within this many bytes.
const LONGEST_HEAD: usize = 64 * 1024;
/// And a body within this many.
const LONGEST_BODY: usize = 16 << 20;

#[derive(Clone, Copy)]
enum Body {
    Length(usize),
    Chunked,
}

/// Parses the request at the start of `bytes`.
pub fn parse(bytes: &[u8]) -> Parse<'_> {
    // Empty lines before a request are to be ignored (section 2.2).
    let start = bytes
        .iter()
        .take_while(|b| matches!(b, b'\r' | b'\n'))
        .count();
    let Some((line, mut at)) = line(bytes, start) else {
        return unfinished(bytes.len());
    };
    let Some((method, target, old)) = request_line(line) else {
        return Parse::Bad(400);
    };
    let mut body = Body::Length(0);
    let mut keep_alive = !old;
    let mut upgrades = false;
    loop {
        let Some((field, next)) = self::line(bytes, at) else {
            return unfinished(bytes.len() - start);
        };
        at = next;
        let Some(first) = field.first() else { break };
        // Only three fields matter, and they begin with two letters.
        match first | 0x20 {
            b'c' | b't' => match field_of(field) {
                Field::Length(n) => body = Body::Length(n),
                Field::Chunked => body = Body::Chunked,
                Field::Close => keep_alive = false,
                Field::KeepAlive => keep_alive = true,
                Field::Upgrade => upgrades = true,
                Field::Other => {}
                Field::Bad => return Parse::Bad(400),
            },
            _ => {}
        }
    }
    let end = match body {
        Body::Length(n) if n > LONGEST_BODY => return Parse::Bad(413),
        Body::Length(n) => at + n,
        Body::Chunked => match end_of_chunks(bytes, at) {
            Ok(Some(end)) => end,
            Ok(None) if bytes.len() - at > LONGEST_BODY => return Parse::Bad(413),
            Ok(None) => return Parse::Partial,
            Err(()) => return Parse::Bad(400),
        },
    };
    if bytes.len() < end {
        return Parse::Partial;
    }
    Parse::Complete(Request {
        method,
        target,
        old,
        keep_alive,
        upgrades,
        length: end,
    })
}

fn unfinished(length: usize) -> Parse<'static> {
    if length > LONGEST_HEAD {
        Parse::Bad(431)
    } else {
        Parse::Partial
    }
}

/// The line at a place, without its end, and where the next begins.
fn line(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = bytes.get(at..)?;
    let end = memchr(b'\n', rest)?;
    let line = &rest[..end];
    Some((line.strip_suffix(b"\r").unwrap_or(line), at + end + 1))
}

fn request_line(line: &[u8]) -> Option<(&[u8], &[u8], bool)> {
    let first = memchr(b' ', line)?;
    let (method, rest) = (&line[..first], &line[first + 1..]);
    let second = memchr(b' ', rest)?;
    let (target, version) = (&rest[..second], &rest[second + 1..]);
    let old = match version {
        b"HTTP/1.1" => false,
        b"HTTP/1.0" => true,
        _ => return None,
    };
    (!method.is_empty() && !target.is_empty()).then_some((method, target, old))
}

enum Field {
    Length(usize),
    Chunked,
    Close,
    KeepAlive,
    Upgrade,
    Other,
    Bad,
}

fn field_of(field: &[u8]) -> Field {
    let Some(colon) = memchr(b':', field) else {
        return Field::Bad;
    };
    let (name, value) = (&field[..colon], field[colon + 1..].trim_ascii());
    if name.eq_ignore_ascii_case(b"content-length") {
        return std::str::from_utf8(value)
            .ok()
            .and_then(|v| v.parse().ok())
            .map_or(Field::Bad, Field::Length);
    }
    if name.eq_ignore_ascii_case(b"transfer-encoding") {
        return if value.eq_ignore_ascii_case(b"chunked") {
            Field::Chunked
        } else {
            Field::Bad
        };
    }
    if name.eq_ignore_ascii_case(b"connection") {
        if value.eq_ignore_ascii_case(b"close") {
            return Field::Close;
        }
        if value.eq_ignore_ascii_case(b"keep-alive") {
            return Field::KeepAlive;
        }
        let mut names = value.split(|byte| *byte == b',');
        if names.any(|name| name.trim_ascii().eq_ignore_ascii_case(b"upgrade")) {
            return Field::Upgrade;
        }
    }
    Field::Other
}

/// Where a chunked body ends, trailers included; `None` while more has to come.
fn end_of_chunks(bytes: &[u8], mut at: usize) -> Result<Option<usize>, ()> {
    loop {
        let Some((size_line, next)) = line(bytes, at) else {
            return Ok(None);
        };
        let digits = size_line
            .split(|b| *b == b';')
            .next()
            .unwrap_or_default()
            .trim_ascii();
        let text = std::str::from_utf8(digits).map_err(|_| ())?;
        let size = usize::from_str_radix(text, 16).map_err(|_| ())?;
        if size == 0 {
            at = next;
            break;
        }
        if size > LONGEST_BODY {
            return Err(());
        }
        at = next + size;
        match bytes.get(at..at + 2) {
            None => return Ok(None),
            Some(b"\r\n") => at += 2,
            Some(_) => return Err(()),
        }
    }
    // Trailers, up to an empty line.
    loop {
        let Some((trailer, next)) = line(bytes, at) else {
            return Ok(None);
        };
        at = next;
        if trailer.is_empty() {
            return Ok(Some(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(text: &str) -> Request<'_> {
        for cut in 0..text.len() {
            assert_eq!(
                parse(&text.as_bytes()[..cut]),
                Parse::Partial,
                "cut at {cut}"
            );
        }
        match parse(text.as_bytes()) {
            Parse::Complete(request) => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn heads_and_bodies_end_where_they_say() {
        let request = complete("GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_eq!(
            (request.method, request.target, request.keep_alive),
            (&b"GET"[..], &b"/a?b"[..], true)
        );
        complete("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
        complete(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n1\r\nc\r\n0\r\nT: 1\r\n\r\n",
        );
        assert_eq!(parse(b"\r\nGET / HTTP/1.1\r\n\r\nGET").clone(), {
            let Parse::Complete(r) = parse(b"\r\nGET / HTTP/1.1\r\n\r\n") else {
                panic!()
            };
            Parse::Complete(r)
        });
    }

    #[test]
    fn connections_go_on_as_versions_and_fields_say() {
        assert!(!complete("GET / HTTP/1.0\r\n\r\n").keep_alive);
        assert!(complete("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").keep_alive);
        assert!(!complete("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").keep_alive);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        assert_eq!(parse(b"hello\r\n\r\n"), Parse::Bad(400));
        assert_eq!(parse(b"GET / HTTP/2\r\n\r\n"), Parse::Bad(400));
        assert_eq!(
            parse(b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
            Parse::Bad(400)
        );
        assert_eq!(
            parse(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"),
            Parse::Bad(400)
        );
        assert_eq!(parse(&[b'a'; LONGEST_HEAD + 1]), Parse::Bad(431));
    }
}
