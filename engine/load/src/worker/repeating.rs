//! Requests whose connection is gone before a byte of their response came: sent once more on a new connection where that
//! is allowed (RFC 9112 section 9.3.1), and failed where it is not.

use super::Worker;
use crate::clock::Nanos;
use crate::closes::Close;
use crate::connection::{Attempt, InFlight, Partial};
use crate::failure::ErrorClass;
use crate::wire::Wire;

/// Says that the server had waited too long for a request, and so received none (RFC 9110 section 15.5.9).
pub(super) const REQUEST_TIMEOUT: u16 = 408;

/// Why a request without a byte of a response fails, or is repeated.
pub(super) const CROSSED: &str = "the server closed a kept connection as a request came on it";
pub(super) const CROSSED_TO_REPEAT: &str =
    "the server closed a kept connection as a request came on it, to be sent once more";

impl Worker {
    /// Ends a connection, and moves what is in flight on it to a new one, as far as it may be sent again. The rest fails
    /// with this class.
    pub(super) fn carry_over<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        class: ErrorClass,
        why: &str,
        now: Nanos,
    ) {
        while self.connections[slot as usize].in_flight > 0 {
            let mut request = self.connections[slot as usize].first;
            if self.never_left(slot, now) {
                if request.attempt == Attempt::First {
                    request.attempt = Attempt::Moved;
                }
            } else if self.repeat && self.is_idempotent(request) {
                if request.attempt != Attempt::Repeated {
                    request.attempt = Attempt::Again;
                }
            } else {
                self.fail_oldest(slot, class, why, now);
                continue;
            }
            let connection = &mut self.connections[slot as usize];
            connection.again.get_or_insert_default().push_back(request);
            self.assigned += 1;
            connection.pop();
            self.in_flight -= 1;
        }
        self.drop_connection(wire, slot);
        self.replace(wire, slot, now);
    }

    /// Whether not a byte of a connection's oldest request was sent: pipelining has gathered it only, or the kernel has
    /// refused it.
    fn never_left(&self, slot: u32, now: Nanos) -> bool {
        let connection = &self.connections[slot as usize];
        let refused = |unsent: &crate::connection::Unsent| {
            unsent.broken != 0 && unsent.bytes.is_empty() && connection.in_flight == 1
        };
        (!self.out.is_empty() && connection.first.sent >= now)
            || connection.unsent.as_deref().is_some_and(refused)
    }

    pub(super) fn is_idempotent(&self, request: InFlight) -> bool {
        self.mix.requests()[usize::from(request.kind)].is_idempotent
    }

    /// The server closed a kept connection, of whose requests in flight not a byte was answered.
    pub(super) fn closed_under_request<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        close: Close,
        received: &[u8],
        now: Nanos,
    ) {
        let connection = &self.connections[slot as usize];
        let request = connection.first;
        self.closed
            .note(close, connection.responses, connection.rested());
        let mut why = CROSSED;
        if self.repeat && self.is_idempotent(request) {
            why = CROSSED_TO_REPEAT;
            let (class, slot) = (ErrorClass::ClosedIdle, Some(slot));
            self.note(class, Some(request), slot, received, why, now);
            self.recorder.connection_failed(class, now);
        }
        self.carry_over(wire, slot, ErrorClass::KeptConnectionClosed, why, now);
    }

    /// Whether a response is the notice of a server that closes a connection which has rested for too long, and the request
    /// crossed it.
    pub(super) fn is_late_notice(&self, slot: u32, partial: &Partial) -> bool {
        let connection = &self.connections[slot as usize];
        let request = connection.first;
        let head = partial.response.head();
        head.is_some_and(|head| head.status == REQUEST_TIMEOUT && !head.keep_alive)
            && connection.rested() > Nanos::ZERO
            && request.attempt != Attempt::Repeated
            && !self.mix.requests()[usize::from(request.kind)]
                .check
                .status_is_right(REQUEST_TIMEOUT)
    }

    /// A response came, and requests of an earlier connection wait for this one: the next of them is sent, alone.
    #[cold]
    pub(super) fn send_next_again<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        if let Some(request) = self.next_again(slot) {
            self.assigned -= 1;
            self.transmit(wire, slot, request, now);
            self.flush(wire, slot);
        }
    }

    /// Takes the next request that is to be sent again in a connection's place.
    pub(super) fn next_again(&mut self, slot: u32) -> Option<InFlight> {
        let again = &mut self.connections[slot as usize].again;
        let request = again.as_mut().and_then(|again| again.pop_front());
        if again.as_ref().is_some_and(|again| again.is_empty()) {
            *again = None;
        }
        request
    }

    /// Fails what counts as sent and waits for a connection in this place.
    pub(super) fn fail_waiting(&mut self, slot: u32, class: ErrorClass, why: &str, now: Nanos) {
        let connection = &mut self.connections[slot as usize];
        let counted = connection.assigned && connection.first.attempt != Attempt::First;
        let mut waiting = counted.then_some(connection.first);
        if counted {
            connection.assigned = false;
        }
        while let Some(request) = waiting.take().or_else(|| self.next_again(slot)) {
            self.assigned -= 1;
            self.note(class, Some(request), Some(slot), &[], why, now);
            self.recorder.failed(class, request, now);
            self.end_pass(slot, now);
        }
    }
}
