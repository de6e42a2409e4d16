//! Header blocks that come (RFC 9113, section 4.3), and the heads and trailers that they are.

use std::sync::Arc;

use touchstone_http::{Framing, Head, MAX_HEAD};

use crate::client::{Client, Event, Room};
use crate::fault::{Code, Fault};
use crate::frame::{self, FrameHead, flag};
use crate::response::Fields;

/// CONTINUATION frames of one header block, at most. The longest block that is accepted fills five.
const MOST_CONTINUATIONS: u8 = 64;

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) stream: u32,
    end: bool,
    bytes: Vec<u8>,
    continuations: u8,
}

/// The last head of a connection, by which it is recognised.
#[derive(Debug, Default)]
pub(crate) struct Last(Option<Arc<Known>>);

#[derive(Debug)]
struct Known {
    block: Vec<u8>,
    changes: u32,
    head: Head,
    text: Vec<u8>,
}

/// A block that was decoded: its bytes, the state of the table, and the head that it is.
type Decoded<'a> = (&'a [u8], u32, Head, &'a [u8]);

impl Known {
    fn new((block, changes, head, text): Decoded<'_>) -> Self {
        Self {
            block: block.to_vec(),
            changes,
            head,
            text: text.to_vec(),
        }
    }

    fn is(&self, (block, changes, head, text): Decoded<'_>) -> bool {
        self.changes == changes && self.block == block && self.text == text && self.head == head
    }

    /// Makes it another head, in the same memory.
    fn become_this(&mut self, (block, changes, head, text): Decoded<'_>) {
        self.block.clear();
        self.block.extend_from_slice(block);
        self.text.clear();
        self.text.extend_from_slice(text);
        (self.changes, self.head) = (changes, head);
    }
}

impl Last {
    /// Remembers a head. Connections of a thread whose last heads are the same share one memory.
    fn keep(&mut self, recent: &mut Self, decoded: Decoded<'_>) {
        if recent.0.as_ref().is_some_and(|known| known.is(decoded)) {
            self.0.clone_from(&recent.0);
            return;
        }
        let own = self.0.as_ref().zip(recent.0.as_ref());
        if own.is_some_and(|(own, recent)| Arc::ptr_eq(own, recent)) {
            recent.0 = None;
        }
        match self.0.as_mut().and_then(Arc::get_mut) {
            Some(known) => known.become_this(decoded),
            None => self.0 = Some(Arc::new(Known::new(decoded))),
        }
        recent.0.clone_from(&self.0);
    }
}

impl<T> Client<T> {
    /// The text of the last head, which a repeated one has as well.
    #[must_use]
    pub fn last_head(&self) -> &[u8] {
        self.reading.last.0.as_ref().map_or(&[], |last| &last.text)
    }

    pub(crate) fn headers(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        room: &mut Room,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, Fault> {
        let fragment = frame::fragment(head, payload)?;
        let end = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.whole_block(head.stream, end, fragment, room, out);
        }
        self.place(head.stream)?;
        self.reading.block = Some(Box::new(Block {
            stream: head.stream,
            end,
            bytes: fragment.to_vec(),
            continuations: 0,
        }));
        Ok(None)
    }

    pub(crate) fn continuation(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        room: &mut Room,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, Fault> {
        let Some(mut block) = self.reading.block.take() else {
            return Ok(None);
        };
        block.continuations += 1;
        if block.bytes.len() + payload.len() > MAX_HEAD || block.continuations > MOST_CONTINUATIONS
        {
            return Err(Fault::new(
                Code::ENHANCE_YOUR_CALM,
                "a header block longer than 64 KiB, or than 64 CONTINUATION frames",
            ));
        }
        block.bytes.extend_from_slice(payload);
        if head.has(flag::END_HEADERS) {
            return self.whole_block(block.stream, block.end, &block.bytes, room, out);
        }
        self.reading.block = Some(block);
        Ok(None)
    }

    fn whole_block(
        &mut self,
        id: u32,
        end: bool,
        block: &[u8],
        room: &mut Room,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, Fault> {
        self.reading.heard_something();
        let place = self.place(id)?;
        let answered = place
            .and_then(|at| self.streams.get(at))
            .is_some_and(|stream| stream.answered);
        if let Some(last) = &self.reading.last.0
            && last.changes == self.decoder.changes()
            && !answered
            && last.block == block
            && let Some(at) = place
        {
            return Ok(Some(self.head(at, id, last.head, true, end, out)));
        }
        let changes = self.decoder.changes();
        let mut fields = Fields::new(&mut room.head, answered);
        self.decoder
            .decode(block, MAX_HEAD, &mut room.scratch, |name, value| {
                fields.field(name, value)
            })?;
        let parsed = fields.finish();
        let Some(at) = place else { return Ok(None) };
        let head = match parsed {
            Ok(head) => head,
            Err(why) => return Ok(Some(self.malformed(at, id, why, out))),
        };
        if answered {
            return Ok(Some(self.trailers(at, id, end, out)));
        }
        if head.is_interim() {
            let why = "an interim response that ends the stream";
            return Ok(end.then(|| self.malformed(at, id, why, out)));
        }
        // A block that changed the table does not mean the same again; nor does one from before.
        if changes == self.decoder.changes() {
            let decoded = (block, changes, head, &room.head[..]);
            self.reading.last.keep(&mut room.last, decoded);
        }
        Ok(Some(self.head(at, id, head, false, end, out)))
    }

    fn trailers(&mut self, at: usize, id: u32, end: bool, out: &mut Vec<u8>) -> Event<'static> {
        let short = self
            .streams
            .get(at)
            .is_some_and(|stream| stream.left.is_some_and(|left| left > 0));
        if !end {
            return self.malformed(at, id, "a second head inside a response", out);
        }
        if short {
            return self.malformed(at, id, "fewer bytes of body than Content-Length says", out);
        }
        Event::Trailers { at }
    }

    #[inline]
    fn head(
        &mut self,
        at: usize,
        id: u32,
        head: Head,
        repeated: bool,
        end: bool,
        out: &mut Vec<u8>,
    ) -> Event<'static> {
        if let Some(stream) = self.streams.get_mut(at) {
            stream.answered = true;
            let bodiless = stream.to_head || head.status == 204 || head.status == 304;
            stream.left = match head.framing {
                _ if bodiless => Some(0),
                Framing::Length(length) => Some(length),
                _ => None,
            };
            if end && stream.left.is_some_and(|left| left > 0) {
                return self.malformed(at, id, "fewer bytes of body than Content-Length says", out);
            }
        }
        Event::Head {
            at,
            head,
            repeated,
            end,
        }
    }
}
