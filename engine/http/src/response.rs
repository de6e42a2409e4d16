//! One response, fed piece by piece.

use crate::field::{is_control, is_fold, split_line, unfold};
use crate::{Framing, Head, Malformed, parse_head};

/// The longest line of chunk size with its extensions, or of a trailer, that is accepted.
const MAX_LINE: usize = 16 * 1024;

/// The state of one response that may not be complete yet.
#[derive(Debug, Default)]
pub struct ResponseParser {
    phase: Phase,
    head: Option<Head>,
    to_head: bool,
    /// The beginning of a head or of a line whose end has not come.
    pending: Vec<u8>,
    /// The final response's head, its folded lines put right, where it is to be kept.
    head_bytes: Option<Vec<u8>>,
    begun: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Head,
    Fixed(u64),
    ChunkSize,
    ChunkData(u64),
    ChunkEnd,
    /// The trailer section; whether a field of it has come, which a line may go on with.
    Trailer(bool),
    UntilClose,
    Done,
}

/// What feeding came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fed {
    /// Bytes that belong to this response; the rest belongs to the next.
    pub consumed: usize,
    /// Whether the response is complete.
    pub done: bool,
}

impl ResponseParser {
    /// Makes the state that of a response not begun; `to_head` says that the request was a HEAD.
    pub fn reset(&mut self, to_head: bool) {
        self.phase = Phase::Head;
        self.head = None;
        self.to_head = to_head;
        self.pending.clear();
        self.head_bytes = None;
        self.begun = false;
    }

    /// Has the final response's head be kept as it comes.
    pub fn keep_head(&mut self) {
        self.head_bytes = Some(Vec::new());
    }

    /// The final response's head, its folded lines put right; empty unless it was to be kept.
    #[must_use]
    pub fn head_bytes(&self) -> &[u8] {
        self.head_bytes.as_deref().unwrap_or_default()
    }

    /// The final response's head, once it has come.
    #[must_use]
    pub const fn head(&self) -> Option<Head> {
        self.head
    }

    /// Whether any byte of the response has come.
    #[must_use]
    pub const fn begun(&self) -> bool {
        self.begun
    }

    /// Takes the final head that another protocol's parser has read, its text in the form of HTTP/1.1.
    pub fn take_parsed(&mut self, head: Head, text: &[u8]) {
        self.begun = true;
        self.head = Some(head);
        if let Some(kept) = &mut self.head_bytes {
            kept.clear();
            kept.extend_from_slice(text);
        }
    }

    /// Puts the text of trailers behind the head, if that is kept.
    pub fn take_trailers(&mut self, text: &[u8]) {
        if let Some(kept) = &mut self.head_bytes {
            kept.extend_from_slice(text);
        }
    }

    /// Takes bytes as far as they belong to this response, and hands the body's bytes to `body`; where a chunk ends, no bytes.
    ///
    /// # Errors
    /// [`Malformed`] when the bytes break the format.
    pub fn feed(&mut self, input: &[u8], mut body: impl FnMut(&[u8])) -> Result<Fed, Malformed> {
        self.begun |= !input.is_empty();
        let mut at = 0;
        while self.phase != Phase::Done {
            let rest = &input[at..];
            // A body of no bytes ends without further input; every other phase needs some.
            if rest.is_empty() && self.phase != Phase::Fixed(0) {
                break;
            }
            at += match self.phase {
                Phase::Head => self.take_head(rest)?,
                Phase::Fixed(left) => {
                    let taken = left.min(rest.len() as u64) as usize;
                    body(&rest[..taken]);
                    self.phase = if left == taken as u64 {
                        Phase::Done
                    } else {
                        Phase::Fixed(left - taken as u64)
                    };
                    taken
                }
                Phase::ChunkData(left) => {
                    let taken = left.min(rest.len() as u64) as usize;
                    body(&rest[..taken]);
                    self.phase = if left == taken as u64 {
                        body(&[]);
                        Phase::ChunkEnd
                    } else {
                        Phase::ChunkData(left - taken as u64)
                    };
                    taken
                }
                Phase::ChunkSize | Phase::ChunkEnd | Phase::Trailer(_) => self.take_line(rest)?,
                Phase::UntilClose => {
                    body(rest);
                    rest.len()
                }
                Phase::Done => 0,
            };
        }
        Ok(Fed {
            consumed: at,
            done: self.phase == Phase::Done,
        })
    }

    /// Tells that the server closed: true if that completes the response (RFC 9112, section 8).
    #[must_use]
    pub fn close(&mut self) -> bool {
        let complete = self.phase == Phase::UntilClose;
        if complete {
            self.phase = Phase::Done;
        }
        complete
    }

    fn take_head(&mut self, rest: &[u8]) -> Result<usize, Malformed> {
        let before = self.pending.len();
        let parsed = if before == 0 {
            parse_head(rest, self.to_head)?
        } else {
            self.pending.extend_from_slice(rest);
            parse_head(&self.pending, self.to_head)?
        };
        let Some(head) = parsed else {
            if before == 0 {
                self.pending.extend_from_slice(rest);
            }
            return Ok(rest.len());
        };
        if let Some(kept) = self.head_bytes.as_mut().filter(|_| !head.is_interim()) {
            let whole = if before == 0 { rest } else { &self.pending };
            kept.extend_from_slice(&whole[..head.len]);
            if head.folded {
                unfold(kept);
            }
        }
        self.pending.clear();
        if !head.is_interim() {
            self.head = Some(head);
            self.phase = match head.framing {
                Framing::Length(length) => Phase::Fixed(length),
                Framing::Chunked => Phase::ChunkSize,
                Framing::Close => Phase::UntilClose,
            };
        }
        Ok(head.len - before)
    }

    fn take_line(&mut self, rest: &[u8]) -> Result<usize, Malformed> {
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            if self.pending.len() + rest.len() > MAX_LINE {
                return Err(Malformed(
                    "a line of the chunked coding is longer than 16 KiB",
                ));
            }
            self.pending.extend_from_slice(rest);
            return Ok(rest.len());
        };
        self.pending.extend_from_slice(&rest[..end]);
        if self.pending.pop() != Some(b'\r') {
            return Err(Malformed(
                "a line of the chunked coding ends with LF alone, not CRLF",
            ));
        }
        self.phase = match self.phase {
            Phase::ChunkSize => match chunk_size(&self.pending)? {
                0 => Phase::Trailer(false),
                size => Phase::ChunkData(size),
            },
            Phase::ChunkEnd if self.pending.is_empty() => Phase::ChunkSize,
            Phase::ChunkEnd => return Err(Malformed("a chunk is longer than its size says")),
            _ if self.pending.is_empty() => Phase::Done,
            Phase::Trailer(true) if is_fold(&self.pending) => {
                if self.pending.iter().any(|byte| is_control(*byte)) {
                    return Err(Malformed("a control character in a field value"));
                }
                Phase::Trailer(true)
            }
            _ => split_line(&self.pending).map(|_| Phase::Trailer(true))?,
        };
        self.pending.clear();
        Ok(end + 1)
    }
}

fn chunk_size(line: &[u8]) -> Result<u64, Malformed> {
    let digits = line
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    let extension = line[digits..].trim_ascii_start();
    if digits == 0 || digits > 15 || !(extension.is_empty() || extension[0] == b';') {
        return Err(Malformed("a chunk size that is not hexadecimal"));
    }
    if extension.iter().any(|byte| is_control(*byte)) {
        return Err(Malformed("a control character in a chunk extension"));
    }
    Ok(line[..digits].iter().fold(0, |size, byte| {
        size * 16 + (*byte as char).to_digit(16).map_or(0, u64::from)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: &[(&str, bool, u16, &str)] = &[
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            false,
            200,
            "hello",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            false,
            200,
            "",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
            true,
            200,
            "",
        ),
        ("HTTP/1.1 204 No Content\r\n\r\n", false, 204, ""),
        (
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
            false,
            304,
            "",
        ),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            false,
            200,
            "ok",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            false,
            200,
            "hello",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhe\r\n0003\r\nllo\r\n000\r\nTrailer: x\r\nOther: y\r\n\r\n",
            false,
            200,
            "hello",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\tchunked\r\n\r\n2\r\nok\r\n0\r\nT: x\r\n y: z\r\n\r\n",
            false,
            200,
            "ok",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA ; q=\"x\"\r\n0123\r\n6789\r\n0\r\n\r\n",
            false,
            200,
            "0123\r\n6789",
        ),
    ];

    fn feed_all(pieces: &[&[u8]], to_head: bool) -> (Vec<u8>, usize, bool, Option<u16>) {
        let mut response = ResponseParser::default();
        response.reset(to_head);
        let (mut body, mut consumed, mut done) = (Vec::new(), 0, false);
        for piece in pieces {
            let fed = response
                .feed(piece, |bytes| body.extend_from_slice(bytes))
                .unwrap();
            consumed += fed.consumed;
            done = fed.done;
        }
        (
            body,
            consumed,
            done,
            response.head().map(|head| head.status),
        )
    }

    #[test]
    fn every_split_in_three_gives_the_same_response() {
        for (text, to_head, status, body) in SAMPLES {
            let bytes = text.as_bytes();
            for first in 0..=bytes.len() {
                for second in first..=bytes.len() {
                    let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    let found = feed_all(&pieces, *to_head);
                    assert_eq!(
                        found,
                        (body.as_bytes().to_vec(), bytes.len(), true, Some(*status)),
                        "{text:?} {first} {second}"
                    );
                }
            }
        }
    }

    #[test]
    fn byte_by_byte_is_complete_at_the_last_byte_and_not_before() {
        for (text, to_head, ..) in SAMPLES {
            let mut response = ResponseParser::default();
            response.reset(*to_head);
            for (index, byte) in text.bytes().enumerate() {
                let fed = response.feed(&[byte], |_| ()).unwrap();
                assert_eq!(fed.done, index + 1 == text.len(), "{text:?} at {index}");
            }
        }
    }

    #[test]
    fn what_follows_belongs_to_the_next_response() {
        for (text, to_head, ..) in SAMPLES {
            let two = [text.as_bytes(), b"HTTP/1.1 200"].concat();
            let (_, consumed, done, _) = feed_all(&[&two], *to_head);
            assert_eq!((consumed, done), (text.len(), true), "{text:?}");
        }
    }

    #[test]
    fn a_close_completes_only_a_body_that_is_delimited_by_it() {
        let mut response = ResponseParser::default();
        response
            .feed(b"HTTP/1.1 200 OK\r\n\r\nabc", |_| ())
            .unwrap();
        assert!(response.close());
        for (text, to_head, ..) in SAMPLES {
            for end in 0..text.len() {
                let mut response = ResponseParser::default();
                response.reset(*to_head);
                response.feed(&text.as_bytes()[..end], |_| ()).unwrap();
                assert!(!response.close(), "{text:?} cut at {end}");
            }
        }
    }

    #[test]
    fn broken_chunks_are_malformed() {
        for tail in [
            "x\r\n",
            "\r\n",
            "5\nhello",
            "5\r\nhelloX\r\n",
            "5\r\nhello\n",
            "fffffffffffffffff\r\n",
            "5 x\r\n",
            "0\r\nno colon\r\n",
            "0\r\nno token: x\r\n",
            "0\r\nX: \x01\r\n",
            "0\r\n X: 1\r\n",
            "0\r\nX: 1\r\n \x01\r\n",
            "5;a\rb\r\nhello",
        ] {
            let text = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{tail}");
            let mut response = ResponseParser::default();
            assert!(response.feed(text.as_bytes(), |_| ()).is_err(), "{tail:?}");
        }
    }
}
