//! Error codes, and why a connection cannot go on.

/// An error code (RFC 9113, section 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(pub u32);

impl Code {
    /// No error.
    pub const NO_ERROR: Self = Self(0x0);
    /// A breach of the protocol.
    pub const PROTOCOL_ERROR: Self = Self(0x1);
    /// More bytes than flow control allows.
    pub const FLOW_CONTROL_ERROR: Self = Self(0x3);
    /// A frame on a stream that is closed.
    pub const STREAM_CLOSED: Self = Self(0x5);
    /// A frame of a length that its type does not allow.
    pub const FRAME_SIZE_ERROR: Self = Self(0x6);
    /// The request was not processed.
    pub const REFUSED_STREAM: Self = Self(0x7);
    /// The response is no longer wanted.
    pub const CANCEL: Self = Self(0x8);
    /// A header block that cannot be decoded.
    pub const COMPRESSION_ERROR: Self = Self(0x9);
    /// Frames that only cost work.
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);

    /// Its name in the RFC.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            0x0 => "NO_ERROR",
            0x1 => "PROTOCOL_ERROR",
            0x2 => "INTERNAL_ERROR",
            0x3 => "FLOW_CONTROL_ERROR",
            0x4 => "SETTINGS_TIMEOUT",
            0x5 => "STREAM_CLOSED",
            0x6 => "FRAME_SIZE_ERROR",
            0x7 => "REFUSED_STREAM",
            0x8 => "CANCEL",
            0x9 => "COMPRESSION_ERROR",
            0xa => "CONNECT_ERROR",
            0xb => "ENHANCE_YOUR_CALM",
            0xc => "INADEQUATE_SECURITY",
            0xd => "HTTP_1_1_REQUIRED",
            _ => "an unknown error code",
        }
    }
}

/// Why a connection cannot go on: a connection error of RFC 9113.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}: {why}", code.name())]
pub struct Fault {
    /// The code that the RFC gives it.
    pub code: Code,
    /// A sentence on it.
    pub why: &'static str,
}

impl Fault {
    /// A fault with this code.
    #[must_use]
    pub const fn new(code: Code, why: &'static str) -> Self {
        Self { code, why }
    }

    pub(crate) const fn protocol(why: &'static str) -> Self {
        Self::new(Code::PROTOCOL_ERROR, why)
    }

    pub(crate) const fn size(why: &'static str) -> Self {
        Self::new(Code::FRAME_SIZE_ERROR, why)
    }

    pub(crate) const fn flow(why: &'static str) -> Self {
        Self::new(Code::FLOW_CONTROL_ERROR, why)
    }

    pub(crate) const fn compression(why: &'static str) -> Self {
        Self::new(Code::COMPRESSION_ERROR, why)
    }
}
