//! Server-sent events (WHATWG HTML, sections 9.2.5 and 9.2.6).

use memchr::{memchr, memchr2};
use touchstone_http::Malformed;

use super::{Event, MOST_BYTES, TOO_LARGE};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The state of an event stream.
#[derive(Debug, Default)]
pub struct Sse {
    /// The beginning of a line.
    pending: Vec<u8>,
    /// The data of an event whose end has not come, each line with an LF behind it.
    data: Vec<u8>,
    name: Vec<u8>,
    id: Vec<u8>,
    /// Whether an `id` has come since the last event.
    has_id: bool,
    /// Whether the last line ended with CR, so that an LF belongs to it.
    after_cr: bool,
    /// Whether the first line has been looked at.
    begun: bool,
}

impl Sse {
    pub(super) fn feed(
        &mut self,
        mut bytes: &[u8],
        mut event: impl FnMut(Event<'_>),
    ) -> Result<(), Malformed> {
        if std::mem::take(&mut self.after_cr) {
            match bytes {
                [] => self.after_cr = true,
                [b'\n', rest @ ..] => bytes = rest,
                _ => {}
            }
        }
        while let Some(end) = memchr2(b'\n', b'\r', bytes) {
            if self.pending.is_empty() {
                self.line(&bytes[..end], &mut event)?;
            } else {
                let mut line = std::mem::take(&mut self.pending);
                line.extend_from_slice(&bytes[..end]);
                let taken = self.line(&line, &mut event);
                line.clear();
                self.pending = line;
                taken?;
            }
            let is_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            match bytes {
                [] => self.after_cr = is_cr,
                [b'\n', rest @ ..] if is_cr => bytes = rest,
                _ => {}
            }
        }
        if self.pending.len() + bytes.len() > MOST_BYTES {
            return Err(TOO_LARGE);
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }

    fn line(
        &mut self,
        mut line: &[u8],
        event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), Malformed> {
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(event);
            return Ok(());
        }
        let colon = memchr(b':', line);
        let (field, value) = match colon {
            None => (line, &b""[..]),
            Some(at) => (&line[..at], &line[at + 1..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.data.len() + value.len() >= MOST_BYTES {
                    return Err(TOO_LARGE);
                }
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            b"id" if !value.contains(&0) => {
                self.id.clear();
                self.id.extend_from_slice(value);
                self.has_id = true;
            }
            // Comments have an empty name, `retry` is about reconnecting, and other fields are ignored.
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, event: &mut impl FnMut(Event<'_>)) {
        if let Some((_, data)) = self.data.split_last() {
            event(Event {
                data,
                id: self.has_id.then_some(&self.id),
                name: &self.name,
                found: None,
            });
            self.data.clear();
            self.has_id = false;
        }
        self.name.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use crate::job::StreamKind;

    fn events(body: &str) -> Vec<(String, String)> {
        let whole = read(StreamKind::Sse, body.as_bytes(), body.len().max(1));
        for piece in 1..body.len() {
            let found = read(StreamKind::Sse, body.as_bytes(), piece);
            assert_eq!(found, whole, "{body:?} in pieces of {piece}");
        }
        whole
    }

    fn data(body: &str) -> Vec<String> {
        events(body).into_iter().map(|(_, data)| data).collect()
    }

    #[test]
    fn lines_end_with_cr_lf_or_both() {
        for end in ["\n", "\r", "\r\n"] {
            let body = ["data: a", "", "data: b", "data: c", "", ""].join(end);
            assert_eq!(data(&body), ["a", "b\nc"], "{end:?}");
        }
        assert_eq!(data("data: a\r\n\ndata: b\n\r\n\r"), ["a", "b"]);
    }

    #[test]
    fn fields_are_read_as_the_standard_has_it() {
        assert_eq!(data("data:a\n\ndata:  b\n\ndata\n\n"), ["a", " b", ""]);
        assert_eq!(data("data\ndata\n\n"), ["\n"]);
        assert_eq!(data(": hello\n\nretry: 10\n\ndata: a\n\n:\n\n"), ["a"]);
        assert_eq!(data("Data: a\nfoo: b\n data: c\n\ndata: d\n\n"), ["d"]);
        assert_eq!(data("\u{feff}data: a\n\n"), ["a"]);
        assert_eq!(data("data: a\n\n\u{feff}data: b\n\n"), ["a"]);
        assert_eq!(data("data: €é\n\n"), ["€é"]);
    }

    #[test]
    fn an_event_that_does_not_end_is_discarded() {
        assert_eq!(data("data: a\n\ndata: b\n"), ["a"]);
        assert_eq!(data("data: a\n\ndata: b"), ["a"]);
        assert!(data("").is_empty());
    }

    #[test]
    fn an_id_belongs_to_the_event_that_it_came_with() {
        let ids = |body| -> Vec<String> { events(body).into_iter().map(|(id, _)| id).collect() };
        assert_eq!(ids("id: 1\ndata: a\n\ndata: b\n\n"), ["1", "-"]);
        assert_eq!(ids("id: 1\n\ndata: b\n\n"), ["1"]);
        assert_eq!(ids("id: 1\0\ndata: b\n\nid\ndata: c\n\n"), ["-", ""]);
    }
}
