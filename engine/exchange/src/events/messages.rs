//! Messages of a gRPC response with server streaming: each is an event, whose data is the message in JSON.

use touchstone_grpc::{Method, prefix};
use touchstone_http::Malformed;

use super::{Event, MOST_BYTES, TOO_LARGE};

const NO_FLAG: Malformed = Malformed("a message whose flag is neither 0 nor 1");
const COMPRESSED: Malformed =
    Malformed("a compressed message, which the call does not accept (grpc-accept-encoding)");
const NO_MESSAGE: Malformed = Malformed("a message is none of the method's type");

/// Cuts a body into messages.
#[derive(Debug)]
pub struct Messages {
    method: Method,
    /// Whether anything looks at the data.
    shows: bool,
    pending: Vec<u8>,
}

impl Messages {
    /// A reader of a response to a method, whose messages are shown as JSON, or only held against their type.
    pub fn new(method: Method, shows: bool) -> Self {
        Self {
            method,
            shows,
            pending: Vec::new(),
        }
    }

    /// Takes a piece of the body, and hands over the messages that it completes.
    ///
    /// # Errors
    /// [`Malformed`] where a message is too large, compressed, or not of its type.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        mut event: impl FnMut(Event<'_>),
    ) -> Result<(), Malformed> {
        self.pending.extend_from_slice(bytes);
        let mut rest = &self.pending[..];
        while let Some((flag, length, behind)) = prefix(rest) {
            match flag {
                0 if length > MOST_BYTES => return Err(TOO_LARGE),
                0 => {}
                1 => return Err(COMPRESSED),
                _ => return Err(NO_FLAG),
            }
            let Some((message, next)) = behind.split_at_checked(length) else {
                break;
            };
            if self.shows {
                let json = self.method.read(message).map_err(|_| NO_MESSAGE)?;
                event(Event::bare(&json));
            } else {
                self.method.check(message).map_err(|_| NO_MESSAGE)?;
                event(Event::bare(message));
            }
            rest = next;
        }
        let taken = self.pending.len() - rest.len();
        self.pending.drain(..taken);
        Ok(())
    }
}
