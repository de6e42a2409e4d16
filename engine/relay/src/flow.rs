//! The bytes of one direction of a connection, held until they are due.

use std::collections::VecDeque;
use touchstone_sys::clock::Nanos;
use touchstone_sys::socket::Stream;

/// Bytes that a direction may hold; beyond it the sender waits, as it does for a receiver that does not read.
const ROOM: usize = 256 * 1024;

struct Part {
    due: Nanos,
    bytes: Vec<u8>,
    sent: usize,
}

/// One direction: bytes that came and have not been passed on, and the end, if it came.
#[derive(Default)]
pub struct Flow {
    parts: VecDeque<Part>,
    held: usize,
    last_due: Nanos,
    ended: bool,
    passed_end: bool,
}

/// Why a direction stopped.
#[derive(Debug, PartialEq, Eq)]
pub enum Passed {
    /// Everything that was due is passed on.
    All,
    /// The receiver takes no more at present.
    Blocked,
    /// The receiver is gone.
    Broken,
}

impl Flow {
    /// Whether more may be read.
    pub fn has_room(&self) -> bool {
        self.held < ROOM && !self.ended
    }

    /// Takes bytes that are to be passed on then, and never before those that came earlier.
    pub fn push(&mut self, bytes: &[u8], due: Nanos) {
        self.last_due = self.last_due.max(due);
        self.held += bytes.len();
        self.parts.push_back(Part {
            due: self.last_due,
            bytes: bytes.to_vec(),
            sent: 0,
        });
    }

    /// Takes bytes that are to be passed on in pieces, from now on one after each pause.
    pub fn drip(&mut self, bytes: &[u8], now: Nanos, piece: usize, pause: Nanos) {
        for piece in bytes.chunks(piece) {
            let due = self.last_due.max(now).0.saturating_add(pause.0);
            self.push(piece, Nanos(due));
        }
    }

    /// The sender has ended: nothing more will be read.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Whether the end was passed on.
    pub fn is_over(&self) -> bool {
        self.passed_end
    }

    /// When the next part is due; `None` if there is none.
    pub fn next_due(&self) -> Option<Nanos> {
        self.parts.front().map(|part| part.due)
    }

    /// Makes all that is held due at once.
    pub fn hurry(&mut self) {
        for part in &mut self.parts {
            part.due = Nanos::ZERO;
        }
        self.last_due = Nanos::ZERO;
    }

    /// Passes on what is due, and the end after the last byte.
    pub fn pass(&mut self, to: &Stream, now: Nanos) -> Passed {
        while let Some(part) = self.parts.front_mut() {
            if part.due > now {
                return Passed::All;
            }
            match to.send(&part.bytes[part.sent..]) {
                Ok(sent) => {
                    part.sent += sent;
                    self.held -= sent;
                    if part.sent == part.bytes.len() {
                        self.parts.pop_front();
                    }
                }
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => return Passed::Blocked,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Passed::Broken,
            }
        }
        if self.ended && !self.passed_end {
            self.passed_end = true;
            // A receiver that is gone has no use for the end.
            let _ = to.end_sending();
        }
        Passed::All
    }
}
