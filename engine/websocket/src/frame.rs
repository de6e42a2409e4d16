//! Frames (RFC 6455, section 5): their headers, and the mask of what a client sends.

use crate::fault::{Fault, protocol};
use crate::reader::Role;

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// Bytes.
    Binary,
}

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    /// A further part of a message.
    Continuation,
    /// A message, or its first part.
    Message(Kind),
    /// The end of the connection.
    Close,
    /// A question that a pong answers.
    Ping,
    /// The answer to a ping.
    Pong,
}

impl Opcode {
    const fn of(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Continuation,
            1 => Self::Message(Kind::Text),
            2 => Self::Message(Kind::Binary),
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return None,
        })
    }

    const fn number(self) -> u8 {
        match self {
            Self::Continuation => 0,
            Self::Message(Kind::Text) => 1,
            Self::Message(Kind::Binary) => 2,
            Self::Close => 8,
            Self::Ping => 9,
            Self::Pong => 10,
        }
    }

    const fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

const FIN: u8 = 0x80;
const RESERVED: u8 = 0x70;
const MASKED: u8 = 0x80;
/// The longest payload of a control frame.
const MOST_OF_CONTROL: u8 = 125;

/// A frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub is_last: bool,
    pub opcode: Opcode,
    pub mask: Option<[u8; 4]>,
    /// Bytes of the header itself.
    pub len: usize,
    /// Bytes behind it.
    pub payload: u64,
}

/// Reads the header at the start of `bytes`, sent by `sender`; none where its end has not come.
///
/// # Errors
/// [`Fault`] as soon as no continuation could make it a frame that `sender` may send.
pub(crate) fn header(bytes: &[u8], sender: Role) -> Result<Option<Header>, Fault> {
    let Some((&first, rest)) = bytes.split_first() else {
        return Ok(None);
    };
    if first & RESERVED != 0 {
        return Err(protocol(
            "a frame has a reserved bit, and no extension was agreed on",
        ));
    }
    let opcode = Opcode::of(first & 0x0f).ok_or(protocol("a frame has a reserved opcode"))?;
    let is_last = first & FIN != 0;
    if opcode.is_control() && !is_last {
        return Err(protocol("a control frame is fragmented"));
    }
    let Some((&second, rest)) = rest.split_first() else {
        return Ok(None);
    };
    let is_masked = second & MASKED != 0;
    match (is_masked, sender) {
        (true, Role::Server) => return Err(protocol("a frame of the server is masked")),
        (false, Role::Client) => return Err(protocol("a frame of the client is not masked")),
        _ => {}
    }
    let short = second & !MASKED;
    if opcode.is_control() && short > MOST_OF_CONTROL {
        return Err(protocol("a control frame is longer than 125 bytes"));
    }
    let Some((payload, rest)) = length(short, rest)? else {
        return Ok(None);
    };
    let (mask, rest) = match (is_masked, rest.split_first_chunk()) {
        (false, _) => (None, rest),
        (true, Some((mask, rest))) => (Some(*mask), rest),
        (true, None) => return Ok(None),
    };
    Ok(Some(Header {
        is_last,
        opcode,
        mask,
        len: bytes.len() - rest.len(),
        payload,
    }))
}

/// The length of a payload, whose first seven bits are `short`, and what is behind it.
fn length(short: u8, rest: &[u8]) -> Result<Option<(u64, &[u8])>, Fault> {
    let (length, least, rest) = match short {
        126 => match rest.split_first_chunk() {
            None => return Ok(None),
            Some((bytes, rest)) => (u64::from(u16::from_be_bytes(*bytes)), 126, rest),
        },
        127 => match rest.split_first_chunk() {
            None => return Ok(None),
            Some((bytes, rest)) => (u64::from_be_bytes(*bytes), 1 << 16, rest),
        },
        _ => (u64::from(short), 0, rest),
    };
    if length > i64::MAX as u64 {
        return Err(protocol("the highest bit of a frame's length is set"));
    }
    if length < least {
        return Err(protocol(
            "a frame's length is not written in the fewest bytes",
        ));
    }
    Ok(Some((length, rest)))
}

/// Appends a frame that is a message of its own, or a control frame; masked where `mask` is given, as a client must.
pub fn write(opcode: Opcode, mask: Option<[u8; 4]>, payload: &[u8], out: &mut Vec<u8>) {
    out.push(FIN | opcode.number());
    let masked = if mask.is_some() { MASKED } else { 0 };
    match payload.len() {
        length @ 0..=125 => out.push(masked | length as u8),
        length @ 126..=0xffff => {
            out.push(masked | 126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(masked | 127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    if let Some(mask) = mask {
        out.extend_from_slice(&mask);
    }
    let begin = out.len();
    out.extend_from_slice(payload);
    if let Some(key) = mask {
        self::mask(key, &mut out[begin..]);
    }
}

/// Masks bytes, or unmasks them (section 5.3), eight at a time.
pub fn mask(key: [u8; 4], bytes: &mut [u8]) {
    let [a, b, c, d] = key;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (chunks, rest) = bytes.as_chunks_mut::<8>();
    for chunk in chunks {
        *chunk = (u64::from_ne_bytes(*chunk) ^ wide).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(key.iter().cycle()) {
        *byte ^= key;
    }
}
