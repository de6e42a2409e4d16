//! A response, read as it arrives (RFC 9112).

/// A whole response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The head, from its status line to its empty line.
    pub head: Vec<u8>,
    /// The body, with any chunking taken off.
    pub body: Vec<u8>,
    /// Whether the connection may be used again.
    pub keep_alive: bool,
}

/// What is known after the bytes so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// More has to come.
    Partial,
    /// The response is whole.
    Complete(Response),
}

/// How the body ends (RFC 9112 section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
    UntilClose,
}

/// Reads one response; give it whatever arrives.
#[derive(Debug, Default)]
pub struct Reader {
    received: Vec<u8>,
    head_only: bool,
}

/// No response that this crate asks for is larger.
const LARGEST: usize = 16 << 20;

impl Reader {
    /// A reader for the response to a request of this method.
    #[must_use]
    pub fn new(method: &str) -> Self {
        Self {
            received: Vec::new(),
            head_only: method == "HEAD",
        }
    }

    /// Bytes received so far.
    #[must_use]
    pub fn received(&self) -> &[u8] {
        &self.received
    }

    /// Takes what has arrived.
    ///
    /// # Errors
    /// When it is not HTTP, or something follows the response; the text says what.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Progress, String> {
        self.received.extend_from_slice(bytes);
        if self.received.len() > LARGEST {
            return Err(format!("the response is larger than {LARGEST} bytes"));
        }
        self.parse(false)
    }

    /// The peer has closed.
    ///
    /// # Errors
    /// When the response is not whole.
    pub fn close(&mut self) -> Result<Response, String> {
        match self.parse(true)? {
            Progress::Complete(response) => Ok(response),
            Progress::Partial if self.received.is_empty() => {
                Err("closed without a response".into())
            }
            Progress::Partial => Err(format!(
                "closed after {} bytes of a response",
                self.received.len()
            )),
        }
    }

    fn parse(&mut self, closed: bool) -> Result<Progress, String> {
        loop {
            let mut headers = [httparse::EMPTY_HEADER; 100];
            let mut head = httparse::Response::new(&mut headers);
            let length = match head.parse(&self.received) {
                Ok(httparse::Status::Complete(length)) => length,
                Ok(httparse::Status::Partial) => return Ok(Progress::Partial),
                Err(e) => return Err(format!("not HTTP: {e}")),
            };
            let status = head.code.unwrap_or(0);
            // Interim responses precede the final one (RFC 9110 section 15.2); 101 would end HTTP here.
            if (100..200).contains(&status) && status != 101 {
                self.received.drain(..length);
                continue;
            }
            let keep_alive = keeps_alive(&head);
            let framing = framing(&head, status, self.head_only)?;
            let rest = &self.received[length..];
            let (body, used) = match framing {
                Framing::Length(n) if rest.len() < n => return Ok(Progress::Partial),
                Framing::Length(n) => (rest[..n].to_vec(), n),
                Framing::UntilClose if !closed => return Ok(Progress::Partial),
                Framing::UntilClose => (rest.to_vec(), rest.len()),
                Framing::Chunked => match unchunk(rest)? {
                    None => return Ok(Progress::Partial),
                    Some(done) => done,
                },
            };
            if used < rest.len() {
                return Err(format!("{} bytes follow the response", rest.len() - used));
            }
            return Ok(Progress::Complete(Response {
                status,
                head: self.received[..length].to_vec(),
                body,
                keep_alive,
            }));
        }
    }
}

fn values<'h>(
    head: &'h httparse::Response<'_, '_>,
    name: &'h str,
) -> impl Iterator<Item = &'h str> {
    head.headers
        .iter()
        .filter(move |h| h.name.eq_ignore_ascii_case(name))
        .filter_map(|h| std::str::from_utf8(h.value).ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
}

fn keeps_alive(head: &httparse::Response<'_, '_>) -> bool {
    let says = |word: &str| values(head, "connection").any(|v| v.eq_ignore_ascii_case(word));
    if head.version == Some(0) {
        says("keep-alive")
    } else {
        !says("close")
    }
}

fn framing(
    head: &httparse::Response<'_, '_>,
    status: u16,
    head_only: bool,
) -> Result<Framing, String> {
    if head_only || matches!(status, 101 | 204 | 304) {
        return Ok(Framing::Length(0));
    }
    if let Some(coding) = values(head, "transfer-encoding").last() {
        let chunked = coding.eq_ignore_ascii_case("chunked");
        return Ok(if chunked {
            Framing::Chunked
        } else {
            Framing::UntilClose
        });
    }
    let mut length = None;
    for value in values(head, "content-length") {
        let n = value
            .parse()
            .map_err(|_| format!("Content-Length is {value:?}"))?;
        if length.is_some_and(|l| l != n) {
            return Err("two Content-Length values that differ".into());
        }
        length = Some(n);
    }
    Ok(length.map_or(Framing::UntilClose, Framing::Length))
}

/// Takes the chunking off; the body and the bytes that it took, or `None` while more has to come.
fn unchunk(mut rest: &[u8]) -> Result<Option<(Vec<u8>, usize)>, String> {
    let whole = rest.len();
    let mut body = Vec::new();
    loop {
        let (start, size) = match httparse::parse_chunk_size(rest) {
            Ok(httparse::Status::Complete(found)) => found,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err("a chunk's size is malformed".into()),
        };
        rest = &rest[start..];
        if size == 0 {
            return trailers(rest, whole).map(|used| used.map(|used| (body, used)));
        }
        let size = usize::try_from(size).map_err(|_| "a chunk is too large".to_owned())?;
        let Some(after) = rest.get(size..size.saturating_add(2)) else {
            return Ok(None);
        };
        if after != b"\r\n" {
            return Err("a chunk does not end where its size says".into());
        }
        body.extend_from_slice(&rest[..size]);
        rest = &rest[size + 2..];
    }
}

/// The trailer section and the last empty line; how much of the body's bytes is then used.
fn trailers(rest: &[u8], whole: usize) -> Result<Option<usize>, String> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    match httparse::parse_headers(rest, &mut headers) {
        Ok(httparse::Status::Complete((used, _))) => Ok(Some(whole - rest.len() + used)),
        Ok(httparse::Status::Partial) => Ok(None),
        Err(e) => Err(format!("the trailers are malformed: {e}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same bytes, cut at every place, must give the same.
    fn read(text: &str) -> Response {
        let mut found = Vec::new();
        for cut in 0..=text.len() {
            let mut reader = Reader::new("GET");
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
    fn the_answer_to_head_has_no_body() {
        let mut reader = Reader::new("HEAD");
        let progress = reader
            .push(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
            .unwrap();
        assert!(matches!(progress, Progress::Complete(r) if r.body.is_empty()));
    }

    #[test]
    fn what_is_broken_is_said() {
        let error = |text: &str| {
            let mut reader = Reader::new("GET");
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
                .contains("differ")
        );
    }
}
