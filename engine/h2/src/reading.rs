//! Frames that come (RFC 9113, sections 4 to 6), and what they change.

use crate::blocks::{Block, Last};
use crate::client::{Client, Event, Room, WINDOW};
use crate::fault::{Code, Fault};
use crate::frame::{self, FrameHead, HEAD, Kind, MAX_PAYLOAD, PADDING, flag};

/// Frames in a row that carry nothing of a response, at most: more only cost work.
const MOST_QUIET: u16 = 1000;

/// What is known of bytes that came in part.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The beginning of a frame.
    pending: Vec<u8>,
    /// The beginning of a header block.
    pub(crate) block: Option<Box<Block>>,
    /// The DATA frame that is being read.
    data: Option<Data>,
    /// The last head, by which it is recognised.
    pub(crate) last: Last,
    pub(crate) greeted: bool,
    quiet: u16,
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
pub(crate) enum Known {
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

    pub(crate) fn quiet(&mut self) -> Result<(), Fault> {
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
                let event = self.read_data(data, input);
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

    pub(crate) fn known(&self, id: u32) -> Result<Known, Fault> {
        if let Some(at) = self.streams.find(id).filter(|_| id != 0) {
            return Ok(Known::Open(at));
        }
        if id == 0 {
            return Err(Fault::protocol("a frame of a stream on stream 0"));
        }
        if id.is_multiple_of(2) || id >= self.next {
            return Err(Fault::protocol("a frame on a stream that was never opened"));
        }
        // Beyond what the server said it would process, frames may be on their way too.
        if self.cancelled.contains(&id) || self.last.is_some_and(|last| id > last) {
            return Ok(Known::PassedOver);
        }
        Ok(Known::Closed)
    }

    /// The place of the stream of a frame that belongs to a response.
    pub(crate) fn place(&self, id: u32) -> Result<Option<usize>, Fault> {
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
    pub(crate) fn malformed(
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
    fn read_data<'a>(&mut self, data: Data, input: &mut &'a [u8]) -> Option<Event<'a>> {
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
        match data.at {
            Some(at) if taken > 0 => Some(Event::Data {
                at,
                bytes,
                frame_ends: left == 0,
                end,
            }),
            Some(at) if end => Some(Event::End { at }),
            _ => None,
        }
    }
}
