//! Requests on their way out: rendered, gathered, sent, and what the socket would not take.

use super::Worker;
use crate::clock::Nanos;
use crate::closes::Close;
use crate::connection::{Attempt, InFlight, Unsent};
use crate::error::errno;
use crate::failure::ErrorClass;
use crate::template::Key;
use crate::wire::Wire;

impl Worker {
    /// Sends one request on an established connection. With pipelining, and over HTTP/2, the bytes are gathered
    /// until [`Self::flush`].
    #[inline]
    pub(super) fn transmit<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        mut request: InFlight,
        now: Nanos,
    ) {
        if self.h2.is_some() {
            return self.transmit_stream(slot, request);
        }
        let compiled = &self.mix.requests()[usize::from(request.kind)];
        // Made only where there is something to fill in.
        let key = || Key {
            counter: request.counter,
            seed: self.seed,
            thread: self.part.global_index,
            session: self.journeys.as_ref().map(|users| users.session(slot)),
        };
        let connection = &mut self.connections[slot as usize];
        let length = if self.depth == 1 {
            if let Some(unsent) = &mut connection.unsent {
                if unsent.broken != 0 {
                    return self.was_gone(wire, slot, request, now);
                }
                // The server answered the last request before it had it whole: this one goes behind what is left of that.
                let before = unsent.bytes.len();
                compiled.render(key(), &mut unsent.bytes, &mut self.scratch);
                unsent.bytes.len() - before
            } else {
                let (bytes, lasting) = match compiled.fixed() {
                    Some(bytes) => (bytes, true),
                    None => {
                        self.out.clear();
                        compiled.render(key(), &mut self.out, &mut self.scratch);
                        (self.out.as_slice(), false)
                    }
                };
                let length = bytes.len();
                match connection.send(wire, slot, bytes, lasting) {
                    Ok(sent) if sent == length => {}
                    Ok(sent) => connection.unsent = Some(Unsent::rest(bytes, sent)),
                    Err(_) => return self.was_gone(wire, slot, request, now),
                }
                if !lasting {
                    self.out.clear();
                }
                length
            }
        } else {
            let before = self.out.len();
            compiled.render(key(), &mut self.out, &mut self.scratch);
            self.out.len() - before
        };
        self.in_flight += 1;
        if let Some(flights) = &self.flights {
            flights.sent(slot, request.sent.0);
        }
        self.count_sent(request, length);
        request.attempt = request.attempt.once_sent();
        self.connections[slot as usize].push(request);
    }

    /// Counts a request that was sent.
    #[inline]
    pub(super) fn count_sent(&mut self, request: InFlight, length: usize) {
        match request.attempt {
            Attempt::First => self.recorder.sent(request.kind, request.intended, length),
            Attempt::Again => self.recorder.repeated(request.intended),
            Attempt::Moved | Attempt::Repeated => {}
        }
    }

    /// Sends what was gathered for one connection.
    pub(super) fn flush<W: Wire>(&mut self, wire: &mut W, slot: u32) {
        if self.out.is_empty() {
            return;
        }
        let connection = &mut self.connections[slot as usize];
        if let Some(unsent) = &mut connection.unsent {
            unsent.bytes.extend_from_slice(&self.out);
        } else {
            match connection.send(wire, slot, &self.out, false) {
                Ok(sent) if sent == self.out.len() => {}
                Ok(sent) => connection.unsent = Some(Unsent::rest(&self.out, sent)),
                Err(error) => self.cannot_send(slot, errno(&error)),
            }
        }
        self.out.clear();
    }

    /// The socket takes bytes again, or never will: then what was answered before is read first, up to the connection's end.
    pub fn writable<W: Wire>(&mut self, wire: &mut W, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        let Some(mut unsent) = connection.unsent.take() else {
            return;
        };
        match connection.send(wire, slot, &unsent.bytes, false) {
            Ok(sent) if sent == unsent.bytes.len() => return,
            Ok(sent) => drop(unsent.bytes.drain(..sent)),
            Err(error) if unsent.broken == 0 => unsent.broken = errno(&error),
            Err(_) => {}
        }
        connection.unsent = Some(unsent);
    }

    /// Sending failed with this error number. What was answered before is read, and then it is said.
    pub fn cannot_send(&mut self, slot: u32, error: i32) {
        let connection = &mut self.connections[slot as usize];
        connection.unsent.get_or_insert_default().broken = error;
    }

    /// A connection was found gone when a request was to be sent, of which not a byte has left: it goes on a new one. Where
    /// the connection was opened for it, it fails.
    #[cold]
    fn was_gone<W: Wire>(&mut self, wire: &mut W, slot: u32, request: InFlight, now: Nanos) {
        let connection = &mut self.connections[slot as usize];
        if connection.responses > 0 || connection.since < now {
            (connection.first, connection.assigned) = (request, true);
            self.assigned += 1;
            let why = "the connection was gone when a request was to be sent";
            return self.closed_at_rest(wire, slot, Close::AtRest, &[], why, now);
        }
        if request.attempt == Attempt::First {
            self.recorder.sent(request.kind, request.intended, 0);
        }
        let why = "the server closed the connection before the request could be sent";
        let class = ErrorClass::Reset;
        self.note(class, Some(request), Some(slot), &[], why, now);
        self.recorder.failed(class, request, now);
        self.end_pass(slot, now);
        self.drop_connection(wire, slot);
        self.pause(slot, now);
    }
}
