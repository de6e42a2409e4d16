//! Frames that come (RFC 9113, sections 4 to 6), and what they change.

use touchstone_http::{Framing, Head, MAX_HEAD};

use crate::client::{Client, Event, MAX_WINDOW, Room, WINDOW};
use crate::fault::{Code, Fault};
use crate::frame::{self, FrameHead, HEAD, Kind, MAX_PAYLOAD, flag, setting};
use crate::response::Fields;

/// Frames in a row that carry nothing of a response, at most: more only cost work.
const MOST_QUIET: u16 = 1000;

/// CONTINUATION frames of one header block, at most. The longest block that is accepted fills five.
const MOST_CONTINUATIONS: u8 = 64;

/// What is known of bytes that came in part.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The beginning of a frame.
    pending: Vec<u8>,
    /// The beginning of a header block.
    block: Option<Box<Block>>,
    /// The DATA frame that is being read.
    data: Option<Data>,
    /// The last head, by which it is recognised.
    last: Option<Box<Last>>,
    greeted: bool,
    quiet: u16,
}

#[derive(Debug)]
struct Block {
    stream: u32,
    end: bool,
    bytes: Vec<u8>,
    continuations: u8,
}

#[derive(Debug)]
struct Last {
    block: Vec<u8>,
    changes: u32,
    head: Head,
}

#[derive(Debug, Clone, Copy)]
struct Data {
    /// The stream's place; none if what comes on it is passed over.
    at: Option<usize>,
    left: usize,
    padding: usize,
    end: bool,
}

/// What is known of a stream's number.
enum Known {
    Open(usize),
    PassedOver,
    Closed,
}

impl Reading {
    /// Something of a request or response has come: what cost only work was not in vain.
    #[inline]
    pub(crate) const fn heard_something(&mut self) {
        self.quiet = 0;
    }

    fn quiet(&mut self) -> Result<(), Fault> {
        self.quiet += 1;
        if self.quiet > MOST_QUIET {
            return Err(Fault::new(
                Code::ENHANCE_YOUR_CALM,
                "more than 1,000 frames in a row that carry nothing of a response",
            ));
        }
        Ok(())
    }
}

impl<T> Client<T> {
    /// Reads on up to the next event, and appends what is to be sent for it; nothing if the input is used up.
    ///
    /// # Errors
    /// A [`Fault`] ends the connection; it has been said in `out`.
    #[inline]
    pub fn read<'a>(
        &mut self,
        input: &mut &'a [u8],
        room: &mut Room,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'a>>, Fault> {
        let read = self.next_event(input, room, out);
        if let Err(fault) = read {
            frame::write_goaway(0, fault.code, out);
        }
        read
    }

    fn next_event<'a>(
        &mut self,
        input: &mut &'a [u8],
        room: &mut Room,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'a>>, Fault> {
        loop {
            if let Some(data) = self.reading.data {
                let event = self.read_data(data, input, out)?;
                if event.is_some() || self.reading.data.is_some() {
                    return Ok(event);
                }
            }
            if input.is_empty() {
                return Ok(None);
            }
            let event = if self.reading.pending.is_empty()
                && let Some((bytes, rest)) = input.split_first_chunk::<HEAD>()
                && let head = FrameHead::read(bytes)
                && rest.len() >= Self::needs(head)
            {
                self.admit(head)?;
                let (payload, rest) = rest.split_at(Self::needs(head));
                *input = rest;
                self.take_frame(head, payload, room, out)?
            } else {
                match self.gather(input)? {
                    Some((head, frame)) => self.take_frame(head, &frame[HEAD..], room, out)?,
                    None => return Ok(None),
                }
            };
            if event.is_some() {
                return Ok(event);
            }
        }
    }

    /// Bytes of a frame's payload that are needed at once: of a body none but the length of its padding.
    #[inline]
    fn needs(head: FrameHead) -> usize {
        if head.kind == Kind::DATA {
            usize::from(head.has(flag::PADDED) && head.length > 0)
        } else {
            head.length
        }
    }

    /// Gathers a frame that comes in pieces; gives it once it is there.
    fn gather(&mut self, input: &mut &[u8]) -> Result<Option<(FrameHead, Vec<u8>)>, Fault> {
        let mut wanted = HEAD;
        loop {
            let pending = &mut self.reading.pending;
            let taken = wanted.saturating_sub(pending.len()).min(input.len());
            pending.extend_from_slice(&input[..taken]);
            *input = &input[taken..];
            let Some(bytes) = pending.first_chunk::<HEAD>() else {
                return Ok(None);
            };
            let head = FrameHead::read(bytes);
            if wanted == HEAD {
                self.admit(head)?;
                wanted = HEAD + Self::needs(head);
            }
            if self.reading.pending.len() == wanted {
                return Ok(Some((head, std::mem::take(&mut self.reading.pending))));
            }
            if input.is_empty() {
                return Ok(None);
            }
        }
    }

    /// Whether a frame with this head may come now.
    #[inline]
    fn admit(&mut self, head: FrameHead) -> Result<(), Fault> {
        if !self.reading.greeted && (head.kind != Kind::SETTINGS || head.has(flag::ACK)) {
            return Err(Fault::protocol(if head.length == 0x0048_5454 {
                "the server answers HTTP/1.1 to HTTP/2"
            } else {
                "the first bytes are not HTTP/2: a server begins with its settings"
            }));
        }
        if head.length > MAX_PAYLOAD {
            return Err(Fault::size(
                "a frame longer than the 16,384 bytes that are allowed",
            ));
        }
        match &self.reading.block {
            Some(block) if head.kind != Kind::CONTINUATION || head.stream != block.stream => {
                Err(Fault::protocol("another frame inside a header block"))
            }
            None if head.kind == Kind::CONTINUATION => {
                Err(Fault::protocol("CONTINUATION without a header block"))
            }
            _ => Ok(()),
        }
    }

    fn take_frame(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        room: &mut Room,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, Fault> {
        match head.kind {
            Kind::DATA => self.begin_data(head, payload, out),
            Kind::HEADERS => self.headers(head, payload, room, out),
            Kind::CONTINUATION => self.continuation(head, payload, room, out),
            Kind::RST_STREAM => self.reset(head, payload),
            Kind::SETTINGS => self.settings(head, payload, out),
            Kind::PING => self.ping(head, payload, out),
            Kind::GOAWAY => self.goaway(head, payload),
            Kind::WINDOW_UPDATE => self.window_update(head, payload, out),
            Kind::PUSH_PROMISE => Err(Fault::protocol("a push, which was refused")),
            Kind::PRIORITY => self.priority(head),
            // Section 4.1: what is not known is passed over.
            _ => self.reading.quiet().map(|()| None),
        }
    }

    fn known(&self, id: u32) -> Result<Known, Fault> {
        if let Some(at) = self.streams.find(id).filter(|_| id != 0) {
            return Ok(Known::Open(at));
        }
        if id == 0 {
            return Err(Fault::protocol("a frame of a stream on stream 0"));
        }
        if id % 2 == 0 || id >= self.next {
            return Err(Fault::protocol("a frame on a stream that was never opened"));
        }
        // Beyond what the server said it would process, frames may be on their way too.
        if self.cancelled.contains(&id) || self.last.is_some_and(|last| id > last) {
            return Ok(Known::PassedOver);
        }
        Ok(Known::Closed)
    }

    /// The place of the stream of a frame that belongs to a response.
    fn place(&self, id: u32) -> Result<Option<usize>, Fault> {
        match self.known(id)? {
            Known::Open(at) => Ok(Some(at)),
            Known::PassedOver => Ok(None),
            Known::Closed => Err(Fault::new(
                Code::STREAM_CLOSED,
                "a frame on a stream that had ended",
            )),
        }
    }

    /// Gives up the stream at a place, whose response is malformed.
    fn malformed(
        &mut self,
        at: usize,
        id: u32,
        why: &'static str,
        out: &mut Vec<u8>,
    ) -> Event<'static> {
        frame::write_reset(id, Code::PROTOCOL_ERROR, out);
        self.passed_over(id);
        Event::Malformed { at, why }
    }

    fn begin_data(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, Fault> {
        let (mut left, mut padding) = (head.length, 0);
        if head.has(flag::PADDED) {
            let Some(length) = payload.first() else {
                return Err(Fault::size(
                    "a padded frame without the length of its padding",
                ));
            };
            (left, padding) = (left - 1, usize::from(*length));
            left = left.checked_sub(padding).ok_or(PADDING)?;
        }
        let place = self.place(head.stream)?;
        self.receive -= head.length as i64;
        if self.receive < 0 {
            return Err(Fault::flow(
                "more bytes than the connection's window allows",
            ));
        }
        if self.receive < WINDOW / 2 {
            frame::write_window_update(0, (WINDOW - self.receive) as u32, out);
            self.receive = WINDOW;
        }
        let end = head.has(flag::END_STREAM);
        let mut data = Data {
            at: place,
            left,
            padding,
            end,
        };
        let mut event = None;
        if let Some(at) = place
            && let Some(stream) = self.streams.get_mut(at)
        {
            stream.receive -= head.length as i64;
            if stream.receive < 0 {
                return Err(Fault::flow("more bytes than the stream's window allows"));
            }
            if stream.receive < WINDOW / 2 && !end {
                frame::write_window_update(head.stream, (WINDOW - stream.receive) as u32, out);
                stream.receive = WINDOW;
            }
            let fits = match &mut stream.left {
                Some(known) => known.checked_sub(left as u64).map(|rest| *known = rest),
                None => Some(()),
            };
            let why = if !stream.answered {
                Some("DATA before the head of the response")
            } else if fits.is_none() {
                Some("more bytes of body than Content-Length says, or a response has")
            } else if end && stream.left.is_some_and(|left| left > 0) {
                Some("fewer bytes of body than Content-Length says")
            } else {
                None
            };
            if let Some(why) = why {
                data.at = None;
                event = Some(self.malformed(at, head.stream, why, out));
            }
        }
        if left > 0 {
            self.reading.heard_something();
        } else if !end {
            self.reading.quiet()?;
        }
        self.reading.data = Some(data);
        Ok(event)
    }

    /// Hands over what has come of a DATA frame.
    #[inline]
    fn read_data<'a>(
        &mut self,
        data: Data,
        input: &mut &'a [u8],
        _out: &mut Vec<u8>,
    ) -> Result<Option<Event<'a>>, Fault> {
        let taken = data.left.min(input.len());
        let (bytes, rest) = input.split_at(taken);
        let left = data.left - taken;
        let skipped = if left == 0 {
            data.padding.min(rest.len())
        } else {
            0
        };
        *input = &rest[skipped..];
        let padding = data.padding - skipped;
        let over = left == 0 && padding == 0;
        self.reading.data = (!over).then_some(Data {
            left,
            padding,
            ..data
        });
        let end = over && data.end;
        Ok(match data.at {
            Some(at) if taken > 0 => Some(Event::Data { at, bytes, end }),
            Some(at) if end => Some(Event::End { at }),
            _ => None,
        })
    }

    fn headers(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        room: &mut Room,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, Fault> {
        let mut fragment = payload;
        if head.has(flag::PADDED) {
            let (padding, rest) = fragment.split_first().ok_or(PADDING)?;
            let length = rest
                .len()
                .checked_sub(usize::from(*padding))
                .ok_or(PADDING)?;
            fragment = &rest[..length];
        }
        if head.has(flag::PRIORITY) {
            fragment = fragment.get(5..).ok_or(Fault::size(
                "HEADERS too short for the priority that it says it has",
            ))?;
        }
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

    fn continuation(
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
        if let Some(last) = &self.reading.last
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
        if changes == self.decoder.changes() {
            let block = block.to_vec();
            self.reading.last = Some(Box::new(Last {
                block,
                changes,
                head,
            }));
        } else {
            self.reading.last = None;
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
        Event::End { at }
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

    fn reset(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'static>>, Fault> {
        let code = <[u8; 4]>::try_from(payload)
            .map_err(|_| Fault::size("RST_STREAM that is not 4 bytes"))?;
        let code = Code(u32::from_be_bytes(code));
        self.reading.quiet()?;
        match self.known(head.stream)? {
            Known::Open(at) => Ok(Some(Event::Reset { at, code })),
            Known::PassedOver | Known::Closed => Ok(None),
        }
    }

    fn settings(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, Fault> {
        if head.stream != 0 {
            return Err(Fault::protocol("SETTINGS on a stream"));
        }
        if head.has(flag::ACK) {
            self.reading.quiet()?;
            return match payload {
                [] => Ok(None),
                _ => Err(Fault::size(
                    "an acknowledgement of SETTINGS that is not empty",
                )),
            };
        }
        if payload.len() % 6 != 0 {
            return Err(Fault::size("SETTINGS whose length is not a multiple of 6"));
        }
        self.reading.quiet()?;
        for pair in payload.chunks_exact(6) {
            let name = u16::from_be_bytes([pair[0], pair[1]]);
            let value = u32::from_be_bytes([pair[2], pair[3], pair[4], pair[5]]);
            self.set(name, value)?;
        }
        self.reading.greeted = true;
        frame::write(Kind::SETTINGS, flag::ACK, 0, &[], out);
        self.send_waiting(out);
        Ok(Some(Event::Settings))
    }

    fn set(&mut self, name: u16, value: u32) -> Result<(), Fault> {
        match name {
            setting::HEADER_TABLE_SIZE => self.peer.table = value as usize,
            setting::ENABLE_PUSH if value != 0 => {
                return Err(Fault::protocol("ENABLE_PUSH of a server that is not 0"));
            }
            setting::MAX_CONCURRENT_STREAMS => self.peer.streams = value,
            setting::INITIAL_WINDOW_SIZE => {
                let window = i64::from(value);
                if window > MAX_WINDOW {
                    return Err(Fault::flow("INITIAL_WINDOW_SIZE above 2,147,483,647"));
                }
                let by = window - self.peer.window;
                self.peer.window = window;
                if !self.shift_windows(by) {
                    return Err(Fault::flow("INITIAL_WINDOW_SIZE makes a window too large"));
                }
            }
            setting::MAX_FRAME_SIZE if !(16_384..=16_777_215).contains(&value) => {
                return Err(Fault::protocol(
                    "MAX_FRAME_SIZE outside 16,384 to 16,777,215",
                ));
            }
            _ => {}
        }
        Ok(())
    }

    fn ping(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, Fault> {
        if head.stream != 0 {
            return Err(Fault::protocol("PING on a stream"));
        }
        if payload.len() != 8 {
            return Err(Fault::size("PING that is not 8 bytes"));
        }
        self.reading.quiet()?;
        if !head.has(flag::ACK) {
            frame::write(Kind::PING, flag::ACK, 0, payload, out);
        }
        Ok(None)
    }

    fn goaway(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'static>>, Fault> {
        if head.stream != 0 {
            return Err(Fault::protocol("GOAWAY on a stream"));
        }
        let Some([a, b, c, d, e, f, g, h]) = payload.first_chunk::<8>() else {
            return Err(Fault::size("GOAWAY of less than 8 bytes"));
        };
        let last = u32::from_be_bytes([*a, *b, *c, *d]) & 0x7fff_ffff;
        if self.last.is_some_and(|before| last > before) {
            return Err(Fault::protocol(
                "a second GOAWAY with a higher stream than the first",
            ));
        }
        self.reading.quiet()?;
        self.last = Some(last);
        let code = Code(u32::from_be_bytes([*e, *f, *g, *h]));
        Ok(Some(Event::GoingAway { code }))
    }

    fn window_update(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, Fault> {
        let bytes = <[u8; 4]>::try_from(payload)
            .map_err(|_| Fault::size("WINDOW_UPDATE that is not 4 bytes"))?;
        let by = i64::from(u32::from_be_bytes(bytes) & 0x7fff_ffff);
        if !self.waits_for_window() {
            self.reading.quiet()?;
        }
        if head.stream == 0 {
            if by == 0 {
                return Err(Fault::protocol("WINDOW_UPDATE by 0"));
            }
            self.send += by;
            if self.send > MAX_WINDOW {
                return Err(Fault::flow(
                    "WINDOW_UPDATE makes the connection's window too large",
                ));
            }
        } else if let Known::Open(at) = self.known(head.stream)?
            && let Some(stream) = self.streams.get_mut(at)
        {
            if by == 0 {
                return Ok(Some(self.malformed(
                    at,
                    head.stream,
                    "WINDOW_UPDATE by 0",
                    out,
                )));
            }
            stream.send += by;
            if stream.send > MAX_WINDOW {
                return Ok(Some(self.malformed(
                    at,
                    head.stream,
                    "WINDOW_UPDATE makes the window of a stream too large",
                    out,
                )));
            }
        }
        self.send_waiting(out);
        Ok(None)
    }

    fn priority(&mut self, head: FrameHead) -> Result<Option<Event<'static>>, Fault> {
        if head.stream == 0 {
            return Err(Fault::protocol("PRIORITY on stream 0"));
        }
        if head.length != 5 {
            return Err(Fault::size("PRIORITY that is not 5 bytes"));
        }
        self.reading.quiet().map(|()| None)
    }
}

const PADDING: Fault = Fault::protocol("padding longer than its frame");
