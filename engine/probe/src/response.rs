//! Reads what a server sent as a sequence of HTTP/1.x responses.
//!
//! The reader is strict about framing (where a response ends) and lenient about the rest. Tolerated
//! faults are noted in [`Response::faults`], for the cases that ask about them.
//! That is why it is not the parser of the load generator (`touchstone-http`), which stops at the
//! first fault: here the fault is the finding, and the case goes on to look at the rest.

use crate::h2::frames::Signals;

/// One response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// `1.0`, `1.1` or `2`.
    pub version: String,
    /// The status code.
    pub status: u16,
    /// Field lines in order, names in lower case, values without surrounding whitespace.
    pub fields: Vec<(String, String)>,
    /// The content, with the transfer coding taken off.
    pub body: Vec<u8>,
    /// Whether the response says where it ends.
    pub self_framed: bool,
    /// What does not follow the grammar or the rules on fields.
    pub faults: Vec<String>,
}

impl Response {
    /// The values of a field, one for each field line.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields
            .iter()
            .filter(move |(field, _)| field == name)
            .map(|(_, value)| value.as_str())
    }
}

/// What is left after the last whole response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Nothing.
    Nothing,
    /// The beginning of a response that has not come to its end.
    Partial,
    /// Octets that are not a response, and why.
    Garbled(String),
}

/// The whole of what was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Interim responses, each with the number of final responses before it.
    pub interim: Vec<(usize, Response)>,
    /// Final responses.
    pub finals: Vec<Response>,
    /// What is left over.
    pub tail: Tail,
    /// What HTTP/2 says of streams and of the connection.
    pub signals: Signals,
}

enum Taken {
    Whole(Response, usize),
    Partial,
}

/// Reads the octets. `methods` are those of the requests in order (GET beyond the list);
/// `ended` says that nothing will follow, which completes a close-delimited response.
pub fn read(bytes: &[u8], methods: &[String], ended: bool) -> Reading {
    let mut reading = Reading {
        interim: Vec::new(),
        finals: Vec::new(),
        tail: Tail::Nothing,
        signals: Signals::default(),
    };
    let mut at = 0;
    while at < bytes.len() {
        let method = methods
            .get(reading.finals.len())
            .map_or("GET", String::as_str);
        match take(&bytes[at..], method, ended) {
            Ok(Taken::Whole(response, length)) => {
                at += length;
                if (100..200).contains(&response.status) && response.status != 101 {
                    reading.interim.push((reading.finals.len(), response));
                } else {
                    reading.finals.push(response);
                }
            }
            Ok(Taken::Partial) => {
                reading.tail = Tail::Partial;
                return reading;
            }
            Err(why) => {
                reading.tail = Tail::Garbled(why);
                return reading;
            }
        }
    }
    reading
}

fn take(bytes: &[u8], method: &str, ended: bool) -> Result<Taken, String> {
    let prefix = b"HTTP/1.";
    let seen = bytes.len().min(prefix.len());
    if bytes[..seen] != prefix[..seen] {
        return Err("not a status line".into());
    }
    let Some(head_end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return if bytes.len() > 1 << 20 {
            Err("no end of the header section in 1 MiB".into())
        } else {
            Ok(Taken::Partial)
        };
    };
    let mut response = head(&bytes[..head_end])?;
    let start = head_end + 4;
    let bodiless = method == "HEAD" || matches!(response.status, 100..=199 | 204 | 304);
    if bodiless {
        response.self_framed = true;
        return Ok(Taken::Whole(response, start));
    }
    let body = &bytes[start..];
    let codings: Vec<&str> = response.values("transfer-encoding").collect();
    if !codings.is_empty() {
        if !list_has(codings.iter().copied(), "chunked") {
            return close_delimited(response, start, body, ended);
        }
        response.self_framed = true;
        return match dechunk(body)? {
            Some((content, length)) => {
                response.body = content;
                Ok(Taken::Whole(response, start + length))
            }
            None => Ok(Taken::Partial),
        };
    }
    let lengths: Vec<&str> = response.values("content-length").collect();
    match lengths.as_slice() {
        [] => close_delimited(response, start, body, ended),
        [first, others @ ..] => {
            if others.iter().any(|other| other != first) {
                return Err("several Content-Length fields that differ".into());
            }
            let length: usize = first
                .parse()
                .map_err(|_| format!("Content-Length {first:?} is not a number"))?;
            if body.len() < length {
                return Ok(Taken::Partial);
            }
            response.body = body[..length].to_vec();
            response.self_framed = true;
            Ok(Taken::Whole(response, start + length))
        }
    }
}

fn close_delimited(
    mut response: Response,
    start: usize,
    body: &[u8],
    ended: bool,
) -> Result<Taken, String> {
    if !ended {
        return Ok(Taken::Partial);
    }
    response.body = body.to_vec();
    Ok(Taken::Whole(response, start + body.len()))
}

fn head(bytes: &[u8]) -> Result<Response, String> {
    let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    let mut lines = text.split("\r\n");
    let status_line = lines.next().unwrap_or_default();
    let mut response = Response::default();
    let rest = status_line
        .strip_prefix("HTTP/")
        .ok_or("not a status line")?;
    let (version, rest) = rest
        .split_once(' ')
        .ok_or_else(|| format!("status line {status_line:?}"))?;
    let code = rest
        .get(..3)
        .ok_or_else(|| format!("status line {status_line:?}"))?;
    response.status = code
        .parse()
        .map_err(|_| format!("status line {status_line:?}"))?;
    if !(100..600).contains(&response.status) {
        return Err(format!("status {}", response.status));
    }
    response.version = version.into();
    if !rest[3..].starts_with(' ') {
        response
            .faults
            .push("no space after the status code (RFC 9112 4)".into());
    }
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            response
                .faults
                .push(format!("field line {line:?} without a colon"));
            continue;
        };
        if name.is_empty() || !name.bytes().all(is_token) {
            response.faults.push(format!("field name {name:?}"));
        }
        let value = value.trim_matches([' ', '\t']);
        if value
            .bytes()
            .any(|byte| (byte < 0x20 && byte != b'\t') || byte == 0x7f)
        {
            response
                .faults
                .push(format!("a control character in the value of {name}"));
        }
        response
            .fields
            .push((name.to_ascii_lowercase(), value.into()));
    }
    let has = |name: &str| response.fields.iter().any(|(field, _)| field == name);
    if has("transfer-encoding") && has("content-length") {
        response
            .faults
            .push("Content-Length beside Transfer-Encoding (RFC 9112 6.2)".into());
    }
    Ok(response)
}

/// Whether a comma-separated field has the element, in any case (RFC 9110 5.6.1).
pub fn list_has<'a>(values: impl Iterator<Item = &'a str>, token: &str) -> bool {
    let mut values = values;
    values.any(|value| {
        value
            .split(',')
            .any(|element| element.trim().eq_ignore_ascii_case(token))
    })
}

/// Whether the octet may stand in a token (RFC 9110 5.6.2).
pub fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Takes the chunked coding off: content and octets used, or `None` when there is more to come.
fn dechunk(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, String> {
    let mut content = Vec::new();
    let mut at = 0;
    loop {
        let Some(line_end) = bytes[at..].windows(2).position(|two| two == b"\r\n") else {
            return Ok(None);
        };
        let line = String::from_utf8_lossy(&bytes[at..at + line_end]);
        let digits = line.split(';').next().unwrap_or_default().trim();
        let size =
            usize::from_str_radix(digits, 16).map_err(|_| format!("chunk size {digits:?}"))?;
        at += line_end + 2;
        if size == 0 {
            break;
        }
        let Some(end) = at.checked_add(size).and_then(|end| end.checked_add(2)) else {
            return Err(format!("chunk size {digits:?}"));
        };
        if bytes.len() < end {
            return Ok(None);
        }
        content.extend_from_slice(&bytes[at..at + size]);
        if &bytes[at + size..end] != b"\r\n" {
            return Err("no CRLF after a chunk".into());
        }
        at = end;
    }
    loop {
        let Some(line_end) = bytes[at..].windows(2).position(|two| two == b"\r\n") else {
            return Ok(None);
        };
        at += line_end + 2;
        if line_end == 0 {
            return Ok(Some((content, at)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n";

    #[test]
    fn a_sequence_is_read_wherever_it_is_cut() {
        let whole = read(TWO, &[], true);
        assert_eq!(whole.tail, Tail::Nothing);
        assert_eq!(whole.interim.len(), 1);
        assert_eq!(
            whole.finals.iter().map(|r| r.status).collect::<Vec<_>>(),
            [200, 404]
        );
        assert_eq!(whole.finals[1].body, b"abc");
        for cut in 1..TWO.len() {
            let part = read(&TWO[..cut], &[], false);
            assert!(
                !matches!(part.tail, Tail::Garbled(_)),
                "cut at {cut}: {:?}",
                part.tail
            );
        }
    }

    #[test]
    fn a_body_after_head_is_garbled() {
        let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        let reading = read(bytes, &["HEAD".into()], true);
        assert_eq!(reading.finals.len(), 1);
        assert!(matches!(reading.tail, Tail::Garbled(_)));
    }

    #[test]
    fn a_response_without_length_ends_with_the_connection() {
        let bytes = b"HTTP/1.0 200 OK\r\n\r\nall of it";
        assert_eq!(read(bytes, &[], false).tail, Tail::Partial);
        let reading = read(bytes, &[], true);
        assert_eq!(reading.finals[0].body, b"all of it");
        assert!(!reading.finals[0].self_framed);
    }

    #[test]
    fn faults_are_noted_and_do_not_stop_the_reading() {
        let bytes = b"HTTP/1.1 204\r\nBad Name: x\r\n\r\n";
        let reading = read(bytes, &[], false);
        assert_eq!(reading.finals[0].faults.len(), 2);
    }
}
