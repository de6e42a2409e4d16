//! WebSocket (RFC 6455) without input and output: bytes in, messages out.
//!
//! [`Reader`] reads one connection. It is as strict as the HTTP parsers of the engine: where the RFC demands that a
//! connection fails, reading ends with a [`Fault`] that names the reason and the close code. Its memory is bounded, and a
//! message that comes whole is handed on where it lies. [`write()`] makes frames. [`Handshake`] opens a connection.

#![forbid(unsafe_code)]

mod close;
mod fault;
mod frame;
mod handshake;
mod reader;

pub use close::Close;
pub use fault::Fault;
pub use frame::{Kind, Opcode, mask, write};
pub use handshake::{Handshake, OWN_FIELDS, accept_of};
pub use reader::{Event, MOST_BYTES, Reader, Role};
