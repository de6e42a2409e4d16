//! Frames (RFC 9113, sections 4.1 and 6): their heads, and those that a client or a server writes.

use crate::fault::{Code, Fault};

/// What a client sends first (section 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes of a frame's head.
pub const HEAD: usize = 9;

/// The longest payload that is accepted, and that every peer accepts.
pub const MAX_PAYLOAD: usize = 16_384;

/// A type of frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind(pub u8);

impl Kind {
    /// A part of a body.
    pub const DATA: Self = Self(0x0);
    /// The beginning of a header block.
    pub const HEADERS: Self = Self(0x1);
    /// A priority, which means nothing any more.
    pub const PRIORITY: Self = Self(0x2);
    /// The end of one stream.
    pub const RST_STREAM: Self = Self(0x3);
    /// Settings of the sender, or their acknowledgement.
    pub const SETTINGS: Self = Self(0x4);
    /// The announcement of a push.
    pub const PUSH_PROMISE: Self = Self(0x5);
    /// A question whether the peer is there, or the answer.
    pub const PING: Self = Self(0x6);
    /// The end of a connection.
    pub const GOAWAY: Self = Self(0x7);
    /// Room for more bytes.
    pub const WINDOW_UPDATE: Self = Self(0x8);
    /// The rest of a header block.
    pub const CONTINUATION: Self = Self(0x9);
}

/// Flags of frames.
pub mod flag {
    /// DATA, HEADERS: the last frame of its sender on the stream.
    pub const END_STREAM: u8 = 0x1;
    /// SETTINGS, PING: an answer.
    pub const ACK: u8 = 0x1;
    /// HEADERS, CONTINUATION: the end of the header block.
    pub const END_HEADERS: u8 = 0x4;
    /// DATA, HEADERS: with padding.
    pub const PADDED: u8 = 0x8;
    /// HEADERS: with a priority.
    pub const PRIORITY: u8 = 0x20;
}

/// Names of settings (section 6.5.2).
pub mod setting {
    /// The largest dynamic table of the peer's encoder.
    pub const HEADER_TABLE_SIZE: u16 = 0x1;
    /// Whether pushes are taken.
    pub const ENABLE_PUSH: u16 = 0x2;
    /// How many streams may be open at once.
    pub const MAX_CONCURRENT_STREAMS: u16 = 0x3;
    /// The window of a new stream.
    pub const INITIAL_WINDOW_SIZE: u16 = 0x4;
    /// The longest payload of a frame.
    pub const MAX_FRAME_SIZE: u16 = 0x5;
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHead {
    /// Bytes of its payload.
    pub length: usize,
    /// Its type.
    pub kind: Kind,
    /// Its flags.
    pub flags: u8,
    /// Its stream; 0 is the connection.
    pub stream: u32,
}

impl FrameHead {
    /// Reads the head that nine bytes are.
    #[inline]
    #[must_use]
    pub fn read(bytes: &[u8; HEAD]) -> Self {
        Self {
            length: usize::from(bytes[0]) << 16
                | usize::from(bytes[1]) << 8
                | usize::from(bytes[2]),
            kind: Kind(bytes[3]),
            flags: bytes[4],
            stream: u32::from_be_bytes([bytes[5], bytes[6], bytes[7], bytes[8]]) & 0x7fff_ffff,
        }
    }

    /// Appends the head.
    #[inline]
    pub fn write(self, out: &mut Vec<u8>) {
        let [_, a, b, c] = (self.length as u32).to_be_bytes();
        let [d, e, f, g] = self.stream.to_be_bytes();
        out.extend_from_slice(&[a, b, c, self.kind.0, self.flags, d, e, f, g]);
    }

    /// Whether it has a flag.
    #[inline]
    #[must_use]
    pub const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

pub(crate) const PADDING: Fault = Fault::protocol("padding longer than its frame");

/// The part of a header block that a HEADERS frame carries: its payload without padding and priority (section 6.2).
///
/// # Errors
/// A [`Fault`] where the payload is too short for what the flags say that it has.
pub fn fragment(head: FrameHead, mut payload: &[u8]) -> Result<&[u8], Fault> {
    if head.has(flag::PADDED) {
        let (padding, rest) = payload.split_first().ok_or(PADDING)?;
        let length = rest.len().checked_sub(usize::from(*padding));
        payload = &rest[..length.ok_or(PADDING)?];
    }
    if head.has(flag::PRIORITY) {
        payload = payload.get(5..).ok_or(Fault::size(
            "HEADERS too short for the priority that it says it has",
        ))?;
    }
    Ok(payload)
}

/// Appends a frame.
pub fn write(kind: Kind, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    let head = FrameHead {
        length: payload.len(),
        kind,
        flags,
        stream,
    };
    head.write(out);
    out.extend_from_slice(payload);
}

/// Appends SETTINGS.
pub fn write_settings(settings: &[(u16, u32)], out: &mut Vec<u8>) {
    let mut payload = Vec::with_capacity(settings.len() * 6);
    for (name, value) in settings {
        payload.extend_from_slice(&name.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    write(Kind::SETTINGS, 0, 0, &payload, out);
}

/// Appends WINDOW_UPDATE.
pub fn write_window_update(stream: u32, increment: u32, out: &mut Vec<u8>) {
    write(
        Kind::WINDOW_UPDATE,
        0,
        stream,
        &increment.to_be_bytes(),
        out,
    );
}

/// Appends RST_STREAM.
pub fn write_reset(stream: u32, code: Code, out: &mut Vec<u8>) {
    write(Kind::RST_STREAM, 0, stream, &code.0.to_be_bytes(), out);
}

/// Appends GOAWAY.
pub fn write_goaway(last: u32, code: Code, out: &mut Vec<u8>) {
    let [a, b, c, d] = last.to_be_bytes();
    let [e, f, g, h] = code.0.to_be_bytes();
    write(Kind::GOAWAY, 0, 0, &[a, b, c, d, e, f, g, h], out);
}

/// Appends a header block as HEADERS and, where it is longer than a frame, CONTINUATION.
#[inline]
pub fn write_block(stream: u32, block: &[u8], end: bool, out: &mut Vec<u8>) {
    let ends = if end { flag::END_STREAM } else { 0 };
    if block.len() <= MAX_PAYLOAD {
        return write(Kind::HEADERS, ends | flag::END_HEADERS, stream, block, out);
    }
    let mut pieces = block.chunks(MAX_PAYLOAD).peekable();
    let (mut kind, mut flags) = (Kind::HEADERS, ends);
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            flags |= flag::END_HEADERS;
        }
        write(kind, flags, stream, piece, out);
        (kind, flags) = (Kind::CONTINUATION, 0);
    }
}
