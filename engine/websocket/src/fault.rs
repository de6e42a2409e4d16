//! What breaks a connection.

/// A breach of RFC 6455, after which a connection fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Fault {
    /// The code of the close frame that answers it (section 7.4.1).
    pub code: u16,
    /// A sentence on the breach.
    pub why: &'static str,
}

/// Bytes that are not of the protocol.
pub(crate) const fn protocol(why: &'static str) -> Fault {
    Fault { code: 1002, why }
}

/// Text that is not UTF-8.
pub(crate) const fn not_utf8(why: &'static str) -> Fault {
    Fault { code: 1007, why }
}

pub(crate) const TOO_LARGE: Fault = Fault {
    code: 1009,
    why: "a message is larger than 16 MiB",
};
