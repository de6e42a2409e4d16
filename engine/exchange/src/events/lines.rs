//! Lines, such as JSON Lines: each line that is not empty is an event.

use memchr::memchr;
use touchstone_http::Malformed;

use super::{Event, MOST_BYTES, TOO_LARGE};

/// A body of lines that end with LF or CRLF. Empty ones are heartbeats.
#[derive(Debug, Default)]
pub struct Lines {
    /// The beginning of a line.
    pending: Vec<u8>,
}

impl Lines {
    pub(super) fn feed(
        &mut self,
        mut bytes: &[u8],
        mut event: impl FnMut(Event<'_>),
    ) -> Result<(), Malformed> {
        while let Some(end) = memchr(b'\n', bytes) {
            if self.pending.is_empty() {
                hand_over(&bytes[..end], &mut event);
            } else {
                self.pending.extend_from_slice(&bytes[..end]);
                self.end(&mut event);
            }
            bytes = &bytes[end + 1..];
        }
        if self.pending.len() + bytes.len() > MOST_BYTES {
            return Err(TOO_LARGE);
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }

    /// The last line may lack its end.
    pub(super) fn end(&mut self, mut event: impl FnMut(Event<'_>)) {
        hand_over(&self.pending, &mut event);
        self.pending.clear();
    }
}

fn hand_over(line: &[u8], event: &mut impl FnMut(Event<'_>)) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if !line.is_empty() {
        event(Event::bare(line));
    }
}
