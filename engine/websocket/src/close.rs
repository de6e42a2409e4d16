//! The end of a connection, as the other side states it (RFC 6455, section 7).

use std::fmt;

use crate::fault::{Fault, not_utf8, protocol};

/// What a close frame says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Close {
    /// Its code; none where the frame is empty.
    pub code: Option<u16>,
    /// Its reason; often empty.
    pub reason: String,
}

impl Close {
    /// Reads the payload of a close frame.
    ///
    /// # Errors
    /// [`Fault`] where the payload is one byte, the code must not be sent, or the reason is not UTF-8.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, Fault> {
        let Some((code, reason)) = payload.split_first_chunk() else {
            if payload.is_empty() {
                return Ok(Self {
                    code: None,
                    reason: String::new(),
                });
            }
            return Err(protocol("a close frame holds half of a code"));
        };
        let code = u16::from_be_bytes(*code);
        if !may_be_sent(code) {
            return Err(protocol("a close frame has a code that must not be sent"));
        }
        let reason = std::str::from_utf8(reason);
        let reason = reason.map_err(|_| not_utf8("the reason of a close frame is not UTF-8"))?;
        Ok(Self {
            code: Some(code),
            reason: reason.to_owned(),
        })
    }
}

impl fmt::Display for Close {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(code) = self.code else {
            return f.write_str("a close frame without a code");
        };
        write!(f, "close code {code}")?;
        if let Some(name) = name(code) {
            write!(f, " ({name})")?;
        }
        if self.reason.is_empty() {
            return Ok(());
        }
        write!(f, ": {:?}", self.reason)
    }
}

/// Whether a close frame may have the code: those of the RFC and of IANA's registry, and those of libraries and
/// applications (section 7.4.2).
const fn may_be_sent(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

const fn name(code: u16) -> Option<&'static str> {
    Some(match code {
        1000 => "normal closure",
        1001 => "going away",
        1002 => "protocol error",
        1003 => "unsupported data",
        1007 => "invalid data",
        1008 => "policy violation",
        1009 => "message too big",
        1010 => "mandatory extension",
        1011 => "internal error",
        1012 => "service restart",
        1013 => "try again later",
        1014 => "bad gateway",
        _ => return None,
    })
}
