//! Reads what one side of a connection sends.

use std::borrow::Cow;

use crate::close::Close;
use crate::fault::{Fault, TOO_LARGE, not_utf8, protocol};
use crate::frame::{Header, Kind, Opcode, header, mask};

/// A larger message breaks the connection.
pub const MOST_BYTES: usize = 16 << 20;
/// Room of that size is kept from message to message.
const KEPT: usize = 64 << 10;

const TEXT: Fault = not_utf8("a text message is not UTF-8");

/// A side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The side that opens it, whose frames are masked.
    Client,
    /// The side that accepts it.
    Server,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A whole message. Owned bytes may be given back by [`Reader::reuse`].
    Message(Kind, Cow<'a, [u8]>),
    /// A ping, to be answered by a pong with the same bytes.
    Ping(Cow<'a, [u8]>),
    /// A pong.
    Pong,
    /// The end: no more is read.
    Close(Close),
}

/// A frame's header and payload.
type Frame<'a> = (Header, Cow<'a, [u8]>);

/// Reads the frames of one side.
#[derive(Debug)]
pub struct Reader {
    sender: Role,
    /// The frame whose end has not come, with its header.
    frame: Vec<u8>,
    /// The parts of a message whose last part has not come.
    parts: Vec<u8>,
    /// How much of them is known to be UTF-8.
    valid: usize,
    /// What that message is.
    fragmented: Option<Kind>,
}

impl Reader {
    /// A reader of what `sender` sends behind the handshake.
    #[must_use]
    pub const fn new(sender: Role) -> Self {
        Self {
            sender,
            frame: Vec::new(),
            parts: Vec::new(),
            valid: 0,
            fragmented: None,
        }
    }

    /// Takes bytes up to the end of the next message or control frame; none where `data` holds no end of one.
    ///
    /// # Errors
    /// [`Fault`] where the bytes break the protocol, as soon as that is known.
    #[inline]
    pub fn read<'a>(&mut self, data: &mut &'a [u8]) -> Result<Option<Event<'a>>, Fault> {
        while !data.is_empty() {
            let Some((header, payload)) = self.next_frame(data)? else {
                return Ok(None);
            };
            if let Some(event) = self.event(header, payload)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Whether no part of a frame or message has come.
    #[must_use]
    pub const fn rests(&self) -> bool {
        self.frame.is_empty() && self.fragmented.is_none()
    }

    /// Takes back the bytes of a message, so that the next one needs no new room.
    pub fn reuse(&mut self, mut bytes: Vec<u8>) {
        if self.frame.capacity() == 0 && bytes.capacity() <= KEPT {
            bytes.clear();
            self.frame = bytes;
        }
    }

    /// Takes the next frame out of `data`, where its end has come.
    #[inline]
    fn next_frame<'a>(&mut self, data: &mut &'a [u8]) -> Result<Option<Frame<'a>>, Fault> {
        if !self.frame.is_empty() {
            return self.rest_of_frame(data);
        }
        if let Some(header) = self.checked_header(data)? {
            let end = header.len + header.payload as usize;
            if let Some((frame, rest)) = data.split_at_checked(end) {
                *data = rest;
                let payload = &frame[header.len..];
                let Some(key) = header.mask else {
                    return Ok(Some((header, Cow::Borrowed(payload))));
                };
                let mut plain = std::mem::take(&mut self.frame);
                plain.extend_from_slice(payload);
                mask(key, &mut plain);
                return Ok(Some((header, Cow::Owned(plain))));
            }
        }
        self.frame.extend_from_slice(data);
        *data = &[];
        Ok(None)
    }

    /// Takes more of a frame that has come in part.
    #[cold]
    fn rest_of_frame<'a>(&mut self, data: &mut &'a [u8]) -> Result<Option<Frame<'a>>, Fault> {
        let take = |frame: &mut Vec<u8>, data: &mut &'a [u8], up_to: usize| {
            let missing = up_to.saturating_sub(frame.len()).min(data.len());
            frame.extend_from_slice(&data[..missing]);
            *data = &data[missing..];
        };
        // A header is read byte by byte, so that nothing of what is behind the frame is taken.
        let header = loop {
            if let Some(header) = self.checked_header(&self.frame)? {
                break header;
            }
            if data.is_empty() {
                return Ok(None);
            }
            let next = self.frame.len() + 1;
            take(&mut self.frame, data, next);
        };
        let end = header.len + header.payload as usize;
        take(&mut self.frame, data, end);
        if self.frame.len() < end {
            return Ok(None);
        }
        let mut payload = std::mem::take(&mut self.frame);
        payload.drain(..header.len);
        if let Some(key) = header.mask {
            mask(key, &mut payload);
        }
        Ok(Some((header, Cow::Owned(payload))))
    }

    /// The header at the start of `bytes`, if it fits into what came before.
    #[inline]
    fn checked_header(&self, bytes: &[u8]) -> Result<Option<Header>, Fault> {
        let Some(header) = header(bytes, self.sender)? else {
            return Ok(None);
        };
        match (header.opcode, self.fragmented) {
            (Opcode::Continuation, None) => {
                return Err(protocol("a continuation frame has no message before it"));
            }
            (Opcode::Message(_), Some(_)) => {
                return Err(protocol("a message begins inside of a fragmented one"));
            }
            _ => {}
        }
        let room = MOST_BYTES - self.parts.len();
        if header.payload > room as u64 {
            return Err(TOO_LARGE);
        }
        Ok(Some(header))
    }

    /// What a frame is; nothing where it is a part of a message that goes on.
    #[inline]
    fn event<'a>(
        &mut self,
        header: Header,
        payload: Cow<'a, [u8]>,
    ) -> Result<Option<Event<'a>>, Fault> {
        match header.opcode {
            Opcode::Message(kind) if header.is_last => message(kind, payload).map(Some),
            Opcode::Message(kind) => {
                (self.fragmented, self.valid) = (Some(kind), 0);
                self.add_part(payload).map(|()| None)
            }
            Opcode::Continuation => {
                self.add_part(payload)?;
                if !header.is_last {
                    return Ok(None);
                }
                let whole = std::mem::take(&mut self.parts);
                let kind = self.fragmented.take().unwrap_or(Kind::Binary);
                message(kind, Cow::Owned(whole)).map(Some)
            }
            Opcode::Ping => Ok(Some(Event::Ping(payload))),
            Opcode::Pong => {
                self.put_back(payload);
                Ok(Some(Event::Pong))
            }
            Opcode::Close => Close::parse(&payload).map(|close| Some(Event::Close(close))),
        }
    }

    /// Text is looked at as it comes: a part that no other could make UTF-8 breaks the connection at once (section 8.1).
    fn add_part(&mut self, payload: Cow<'_, [u8]>) -> Result<(), Fault> {
        self.parts.extend_from_slice(&payload);
        self.put_back(payload);
        if self.fragmented != Some(Kind::Text) {
            return Ok(());
        }
        match std::str::from_utf8(&self.parts[self.valid..]) {
            Ok(text) => self.valid += text.len(),
            Err(error) if error.error_len().is_none() => self.valid += error.valid_up_to(),
            Err(_) => return Err(TEXT),
        }
        Ok(())
    }

    fn put_back(&mut self, payload: Cow<'_, [u8]>) {
        if let Cow::Owned(bytes) = payload {
            self.reuse(bytes);
        }
    }
}

/// A whole message.
#[inline]
fn message(kind: Kind, bytes: Cow<'_, [u8]>) -> Result<Event<'_>, Fault> {
    if kind == Kind::Text && std::str::from_utf8(&bytes).is_err() {
        return Err(TEXT);
    }
    Ok(Event::Message(kind, bytes))
}
