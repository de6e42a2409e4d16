//! Streamed responses: bytes in, events out; and what the events must be.
//!
//! A [`Reader`] cuts a body into [`Event`]s. A [`StreamCheck`] judges each one, and a [`Progress`] keeps what is known of a
//! stream so far: how many events came, and which are missing, doubled or out of order by their counter.

mod lines;
mod messages;
mod order;
mod place;
mod progress;
mod sse;
mod watched;

pub use order::Order;
pub use place::{Number, Place, Stamp};
pub use progress::{EventFault, Progress, Seen};
pub(crate) use watched::Watched;
pub use watched::{CODED, has_events, is_coded};

use std::sync::Arc;

use touchstone_grpc::Found;
use touchstone_http::Malformed;

use crate::call::Call;
use crate::check::{BodyCheck, Check};
use crate::glance::Glance;
use crate::job::{Expect, Stream, StreamKind};
use crate::template::Scope;
use lines::Lines;
use messages::{MessageType, Messages};
use sse::Sse;

/// A larger event breaks the stream off.
const MOST_BYTES: usize = 16 << 20;

const TOO_LARGE: Malformed = Malformed("an event is larger than 16 MiB");

/// One event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// Its data.
    pub data: &'a [u8],
    /// The `id:` that came with it (server-sent events).
    pub id: Option<&'a [u8]>,
    /// Its type (server-sent events); empty where none was named.
    pub name: &'a [u8],
    /// What was read of it, where the data is a message of gRPC as it came, and not its JSON.
    pub found: Option<&'a Found<'a>>,
}

impl<'a> Event<'a> {
    /// An event that is nothing but its bytes.
    #[must_use]
    pub const fn bare(data: &'a [u8]) -> Self {
        Self {
            data,
            id: None,
            name: b"",
            found: None,
        }
    }
}

/// What the events of a stream must be.
#[derive(Debug, Clone)]
pub struct StreamCheck {
    /// What one event is.
    pub kind: StreamKind,
    /// How many must come.
    pub events: u32,
    /// What each must be.
    pub check: Check,
    /// Where an event's number is.
    pub counter: Option<Place>,
    /// The first event's number.
    pub first: Option<i64>,
    /// Where the time is at which the service sent the event.
    pub stamp: Option<Place>,
    /// The type of the events that count (server-sent events).
    pub event: Option<String>,
    /// The messages that the events are (gRPC).
    pub(crate) messages: Option<Arc<MessageType>>,
}

impl StreamCheck {
    /// Compiles what a job says of a stream, whose templates may name what is in `scope`.
    ///
    /// # Errors
    /// A sentence that begins with the part that does not hold together, such as `expect: `.
    pub fn compile(stream: &Stream, call: Option<&Call>, scope: Scope<'_>) -> Result<Self, String> {
        let is_streaming = call.is_some_and(|call| call.method().is_streaming());
        if is_streaming != (stream.kind == StreamKind::Messages) {
            return Err(match call {
                Some(_) if is_streaming => "kind: the events of a gRPC call are messages",
                Some(_) => "kind: the response to this gRPC call is one message: leave stream out",
                None => "kind: messages belong to a gRPC method that streams its responses",
            }
            .to_owned());
        }
        if stream.events == 0 {
            return Err("events: a stream has one event at least".to_owned());
        }
        if stream.first.is_some() && stream.counter.is_none() {
            return Err("first: it is the first number of a counter: name `counter`".to_owned());
        }
        if stream.event.is_some() && stream.kind != StreamKind::Sse {
            return Err("event: only server-sent events have a type".to_owned());
        }
        let place = |name: &str, text: &Option<String>| {
            let place = text.as_deref().map(|text| Place::parse(text, stream.kind));
            place.transpose().map_err(|why| format!("{name}: {why}"))
        };
        let expect = Expect {
            body: stream.expect.clone(),
            ..Expect::default()
        };
        let check = match call {
            Some(call) => Check::of_message(&expect, call, scope),
            None => Check::compile(&expect, None, scope),
        };
        let check = check.map_err(|why| why.replacen("body: ", "expect: ", 1))?;
        let counter = place("counter", &stream.counter)?;
        let stamp = place("stamp", &stream.stamp)?;
        let messages = call.map(|call| {
            let (method, body) = (call.method(), check.body());
            let looked_at = counter.is_some() || stamp.is_some() || !matches!(body, BodyCheck::Any);
            let glance = Glance::new(method, body);
            let glance = glance.and_then(|glance| glance.with(counter.as_ref(), stamp.as_ref()));
            Arc::new(MessageType::new(method.clone(), looked_at, glance))
        });
        Ok(Self {
            kind: stream.kind,
            events: stream.events,
            check,
            counter,
            first: stream.first,
            stamp,
            event: stream.event.clone(),
            messages,
        })
    }

    /// A reader of a body not begun.
    #[must_use]
    pub fn reader(&self) -> Reader {
        match &self.messages {
            Some(messages) => Reader::Messages(Messages::new(Arc::clone(messages))),
            None => Reader::new(self.kind),
        }
    }

    /// Whether an event counts: of server-sent events those of the wanted type, where one is named.
    #[must_use]
    pub fn counts(&self, event: &Event<'_>) -> bool {
        let Some(wanted) = &self.event else {
            return true;
        };
        // An event without a type has this one (WHATWG HTML, section 9.2.6).
        let name: &[u8] = if event.name.is_empty() {
            b"message"
        } else {
            event.name
        };
        name == wanted.as_bytes()
    }
}

/// Cuts a body into events, whatever pieces it comes in.
#[derive(Debug)]
pub enum Reader {
    /// Server-sent events.
    Sse(Box<Sse>),
    /// Lines.
    Lines(Lines),
    /// Chunks of HTTP/1.1, or DATA frames.
    Chunks(Vec<u8>),
    /// Messages of gRPC.
    Messages(Messages),
}

impl Reader {
    /// A reader of a body not begun.
    #[must_use]
    pub fn new(kind: StreamKind) -> Self {
        match kind {
            StreamKind::Sse => Self::Sse(Box::default()),
            StreamKind::Lines => Self::Lines(Lines::default()),
            // Messages are read by their method: see [`StreamCheck::reader`].
            StreamKind::Chunks | StreamKind::Messages => Self::Chunks(Vec::new()),
        }
    }

    /// Takes a piece of the body, and hands over the events that it completes.
    ///
    /// # Errors
    /// [`Malformed`] where an event is too large.
    pub fn feed(&mut self, bytes: &[u8], event: impl FnMut(Event<'_>)) -> Result<(), Malformed> {
        match self {
            Self::Sse(sse) => sse.feed(bytes, event),
            Self::Lines(lines) => lines.feed(bytes, event),
            Self::Messages(messages) => messages.feed(bytes, event),
            Self::Chunks(chunk) if chunk.len() + bytes.len() > MOST_BYTES => Err(TOO_LARGE),
            Self::Chunks(chunk) => {
                chunk.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// A chunk of HTTP/1.1 or a DATA frame ends here.
    pub fn chunk_ends(&mut self, mut event: impl FnMut(Event<'_>)) {
        if let Self::Chunks(chunk) = self
            && !chunk.is_empty()
        {
            event(Event::bare(chunk));
            chunk.clear();
        }
    }

    /// The body has ended: hands over an event that needs no more to be complete. What is left of a server-sent event is
    /// discarded (WHATWG HTML, section 9.2.6).
    pub fn end(&mut self, event: impl FnMut(Event<'_>)) {
        match self {
            Self::Sse(_) | Self::Messages(_) => {}
            Self::Lines(lines) => lines.end(event),
            Self::Chunks(_) => self.chunk_ends(event),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a body that comes in pieces of this size.
    pub(super) fn read(kind: StreamKind, body: &[u8], piece: usize) -> Vec<(String, String)> {
        let (mut reader, mut found) = (Reader::new(kind), Vec::new());
        let mut take = |event: Event<'_>| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            found.push((text(event.id.unwrap_or(b"-")), text(event.data)));
        };
        for part in body.chunks(piece) {
            reader.feed(part, &mut take).unwrap();
        }
        reader.end(&mut take);
        found
    }

    #[test]
    fn a_line_is_an_event_however_it_ends_and_an_empty_one_is_none() {
        let body = "a\nb\r\n\n\r\n{\"é\":1}\nlast".as_bytes();
        for piece in 1..=body.len() {
            let found = read(StreamKind::Lines, body, piece);
            let data: Vec<&str> = found.iter().map(|(_, data)| data.as_str()).collect();
            assert_eq!(data, ["a", "b", "{\"é\":1}", "last"], "pieces of {piece}");
        }
    }

    #[test]
    fn a_chunk_is_an_event_in_whatever_parts_it_comes() {
        let (mut reader, mut found) = (Reader::new(StreamKind::Chunks), Vec::new());
        let mut take = |event: Event<'_>| found.push(event.data.to_vec());
        reader.feed(b"one", &mut take).unwrap();
        reader.feed(b" two", &mut take).unwrap();
        reader.chunk_ends(&mut take);
        reader.chunk_ends(&mut take);
        reader.feed(b"three", &mut take).unwrap();
        reader.end(&mut take);
        assert_eq!(found, [b"one two".to_vec(), b"three".to_vec()]);
    }

    #[test]
    fn an_event_without_end_breaks_the_stream_off() {
        let piece = vec![b'x'; 1 << 20];
        for kind in [StreamKind::Sse, StreamKind::Lines, StreamKind::Chunks] {
            let mut reader = Reader::new(kind);
            let broken = (0..17).find_map(|_| reader.feed(&piece, |_| ()).err());
            assert_eq!(broken, Some(TOO_LARGE), "{kind:?}");
        }
    }

    #[test]
    fn what_does_not_hold_together_is_refused_by_its_part() {
        let compile = |stream| {
            let stream = serde_json::from_value(stream).unwrap();
            StreamCheck::compile(&stream, None, Scope::default()).unwrap_err()
        };
        for (stream, said) in [
            (serde_json::json!({"kind": "sse", "events": 0}), "events: "),
            (
                serde_json::json!({"kind": "sse", "events": 1, "first": 0}),
                "first: ",
            ),
            (
                serde_json::json!({"kind": "lines", "events": 1, "event": "tick"}),
                "event: ",
            ),
            (
                serde_json::json!({"kind": "lines", "events": 1, "counter": "id"}),
                "counter: ",
            ),
            (
                serde_json::json!({"kind": "sse", "events": 1, "stamp": "t"}),
                "stamp: ",
            ),
            (
                serde_json::json!({"kind": "sse", "events": 1, "expect": {"kind": "pattern", "value": "("}}),
                "expect: ",
            ),
        ] {
            let why = compile(stream);
            assert!(why.starts_with(said), "{why}");
        }
    }
}
