//! A response, kept whole: a thin layer over the parser.

use touchstone_http::{Head, ResponseParser, field_value};
use touchstone_websocket::Kind;

/// A whole response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The head, from its status line to its empty line.
    pub head: Vec<u8>,
    /// The body, with any chunking taken off.
    pub body: Vec<u8>,
    /// Where chunks of HTTP/1.1, or DATA frames, end in the body.
    pub ends: Vec<usize>,
    /// Its trailers over HTTP/2: lines, and an empty one.
    pub trailers: Vec<u8>,
    /// Whether the connection may be used again.
    pub keep_alive: bool,
    /// What the body is, if it is a message over a WebSocket.
    pub message: Option<Kind>,
}

/// What is known after the bytes so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// More has to come.
    Partial,
    /// The response is whole.
    Complete(Response),
}

/// Reads one response; give it whatever arrives.
#[derive(Debug)]
pub struct Reader {
    parser: ResponseParser,
    /// Bytes received so far, and as long as they are few, the bytes.
    seen: usize,
    received: Vec<u8>,
    body: Vec<u8>,
    ends: Vec<usize>,
}

/// What has come of a response whose end may not have come.
#[derive(Debug, Clone, Copy)]
pub struct SoFar<'a> {
    /// The parsed head, and its text.
    pub head: (Head, &'a [u8]),
    /// The body so far.
    pub body: &'a [u8],
    /// Where chunks of HTTP/1.1, or DATA frames, end in it.
    pub ends: &'a [usize],
}

impl SoFar<'_> {
    /// The same as a response that is left: its connection is of no more use.
    #[must_use]
    pub fn left(&self) -> Response {
        Response {
            status: self.head.0.status,
            head: self.head.1.to_vec(),
            body: self.body.to_vec(),
            ends: self.ends.to_vec(),
            trailers: Vec::new(),
            keep_alive: false,
            message: None,
        }
    }
}

/// A body that is kept whole is not larger, in bytes; the load generator's limit, too.
pub const LARGEST_BODY: usize = 64 << 20;
/// A response that is longer is not kept as it was received.
const KEPT: usize = 64 * 1024;

impl Reader {
    /// A reader for a response, which to HEAD has no body.
    #[must_use]
    pub fn new(to_head: bool) -> Self {
        let mut parser = ResponseParser::default();
        parser.reset(to_head);
        parser.keep_head();
        Self {
            parser,
            seen: 0,
            received: Vec::new(),
            body: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// What has come, once its head has.
    #[must_use]
    pub fn seen(&self) -> Option<SoFar<'_>> {
        Some(SoFar {
            head: (self.parser.head()?, self.parser.head_bytes()),
            body: &self.body,
            ends: &self.ends,
        })
    }

    /// The bytes of the response so far; empty for one that is longer than 64 KiB.
    #[must_use]
    pub fn received(&self) -> &[u8] {
        &self.received
    }

    /// What has come of a response whose end has not come, in words; empty before the end of its head.
    #[must_use]
    pub fn so_far(&self) -> String {
        let Some(head) = self.parser.head() else {
            return String::new();
        };
        so_far(head, self.parser.head_bytes(), self.body.len())
    }

    /// Whether any byte has come.
    #[must_use]
    pub const fn begun(&self) -> bool {
        self.seen > 0
    }

    /// Takes what has arrived.
    ///
    /// # Errors
    /// When it is not HTTP, or something follows the response; the text says what.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Progress, String> {
        self.seen += bytes.len();
        if self.seen <= KEPT {
            self.received.extend_from_slice(bytes);
        } else {
            self.received.clear();
        }
        let (body, ends) = (&mut self.body, &mut self.ends);
        let mut too_large = false;
        let keep = |part: &[u8]| {
            too_large |= body.len() + part.len() > LARGEST_BODY;
            if !too_large {
                body.extend_from_slice(part);
            }
            if part.is_empty() {
                ends.push(body.len());
            }
        };
        let fed = self.parser.feed(bytes, keep);
        let fed = fed.map_err(|why| format!("not HTTP/1.1: {why}"))?;
        if too_large {
            return Err(format!("the body is larger than {LARGEST_BODY} bytes"));
        }
        if fed.consumed < bytes.len() {
            let extra = bytes.len() - fed.consumed;
            return Err(format!("{extra} bytes follow the response"));
        }
        Ok(match self.parser.head() {
            Some(head) if fed.done => Progress::Complete(self.whole(head)),
            _ => Progress::Partial,
        })
    }

    /// The peer has closed.
    ///
    /// # Errors
    /// When the response is not whole.
    pub fn close(&mut self) -> Result<Response, String> {
        match self.parser.head() {
            Some(head) if self.parser.close() => Ok(self.whole(head)),
            _ if !self.begun() => Err("closed without a response".into()),
            _ => Err(format!("closed after {} bytes of a response", self.seen)),
        }
    }

    /// The response, of which all has come.
    fn whole(&mut self, head: Head) -> Response {
        Response {
            status: head.status,
            head: self.parser.head_bytes().to_vec(),
            body: std::mem::take(&mut self.body),
            ends: std::mem::take(&mut self.ends),
            trailers: Vec::new(),
            keep_alive: head.keep_alive,
            message: None,
        }
    }
}

/// What has come of a response whose end has not come, in words: its head, and the length of its body so far.
pub(crate) fn so_far(head: Head, text: &[u8], body: usize) -> String {
    let types = field_value(text, "content-type");
    let kind = types.map(|kind| format!(" {}", String::from_utf8_lossy(&kind)));
    format!(
        "{}{} with {body} bytes of a body that did not end",
        head.status,
        kind.unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same bytes, cut at every place, must give the same.
    fn read(text: &str) -> Response {
        let mut found = Vec::new();
        for cut in 0..=text.len() {
            let mut reader = Reader::new(false);
            let (a, b) = text.as_bytes().split_at(cut);
            let first = reader.push(a).unwrap();
            found.push(match first {
                Progress::Complete(response) => response,
                Progress::Partial => match reader.push(b).unwrap() {
                    Progress::Complete(response) => response,
                    Progress::Partial => reader.close().unwrap(),
                },
            });
        }
        assert!(found.windows(2).all(|w| w[0] == w[1]));
        found.swap_remove(0)
    }

    #[test]
    fn bodies_are_framed_by_length_chunks_and_close() {
        assert_eq!(
            read("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong").body,
            b"pong"
        );
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\npo\r\n2\r\nng\r\n0\r\nT: 1\r\n\r\n";
        assert_eq!(read(chunked).body, b"pong");
        let close = read("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\npong");
        assert_eq!(
            (close.body.as_slice(), close.keep_alive),
            (b"pong".as_slice(), false)
        );
        assert_eq!(
            read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n").status,
            204
        );
    }

    #[test]
    fn what_the_load_generator_refuses_is_refused_here() {
        for text in [
            "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
            "\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
        ] {
            let refused = Reader::new(false).push(text.as_bytes()).unwrap_err();
            assert!(refused.contains("not HTTP/1.1"), "{text:?}: {refused}");
        }
    }

    #[test]
    fn a_connection_whose_close_ended_the_body_is_not_kept() {
        let body = read("HTTP/1.1 200 OK\r\n\r\npong");
        assert!(!body.keep_alive && body.body == b"pong");
    }

    #[test]
    fn the_answer_to_head_has_no_body() {
        let mut reader = Reader::new(true);
        let progress = reader
            .push(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
            .unwrap();
        assert!(matches!(progress, Progress::Complete(r) if r.body.is_empty()));
    }

    #[test]
    fn what_is_broken_is_said() {
        let error = |text: &str| {
            let mut reader = Reader::new(false);
            match reader.push(text.as_bytes()) {
                Err(why) => why,
                Ok(progress) => reader
                    .close()
                    .err()
                    .unwrap_or_else(|| format!("{progress:?}")),
            }
        };
        assert_eq!(error(""), "closed without a response");
        assert!(error("SSH-2.0-x\r\n").contains("not HTTP"));
        assert!(error("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\npong").contains("closed after"));
        assert!(
            error("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\npong").contains("2 bytes follow")
        );
        assert!(
            error("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nxx")
                .contains("different values")
        );
    }
}
