//! Connections that end or have taken too long, and what becomes of their requests.

use super::{Phase, Worker};
use crate::clock::Nanos;
use crate::connection::State;
use crate::failure::ErrorClass;
use crate::wire::Wire;

impl Worker {
    /// The connection ended: closed by the server (`error` 0), or with an error number.
    pub fn ended<W: Wire>(&mut self, wire: &mut W, slot: u32, mut error: i32, now: Nanos) {
        let connection = &mut self.connections[slot as usize];
        // The kernel tells an error once: here it was told to who sent.
        if let (0, Some(unsent)) = (error, &connection.unsent) {
            error = unsent.broken;
        }
        match connection.state {
            State::Closed | State::Resting => return,
            State::Connecting => {
                self.drop_connection(wire, slot);
                return self.attempt_failed(
                    slot,
                    if error == 0 { libc::ECONNRESET } else { error },
                    now,
                );
            }
            State::Open => {}
        }
        if connection.in_flight == 0 {
            self.note(
                ErrorClass::ClosedIdle,
                None,
                None,
                &[],
                "the server closed a connection that carried no request",
                now,
            );
            self.recorder.connection_failed(ErrorClass::ClosedIdle, now);
            self.drop_connection(wire, slot);
            return self.replace(wire, slot, now);
        }
        if self.was_closed_at_rest(slot) {
            return self.repeat(wire, slot, now);
        }
        let connection = &mut self.connections[slot as usize];
        if error == 0
            && let Some(mut partial) = connection.partial.take()
        {
            if partial.response.close() {
                return self.conclude(wire, slot, partial, (false, false), now);
            }
            connection.partial = Some(partial);
        }
        let begun = connection
            .partial
            .as_ref()
            .is_some_and(|partial| partial.response.begun());
        let why = std::io::Error::from_raw_os_error(error).to_string();
        let (class, why) = match (error, begun) {
            (libc::EPROTO, _) => (ErrorClass::Malformed, "bytes that are not TLS"),
            (0, true) => (
                ErrorClass::ClosedMidResponse,
                "the server closed inside the response",
            ),
            (0, false) => (
                ErrorClass::ClosedBeforeResponse,
                "the server closed before the first byte of the response",
            ),
            _ => (ErrorClass::Reset, why.as_str()),
        };
        self.fail_all(wire, slot, class, why, now);
    }

    /// Whether the server gave a connection up while it rested between two turns, and the request with which this turn began
    /// crossed that: it is all that was sent, and not a byte has come.
    fn was_closed_at_rest(&self, slot: u32) -> bool {
        let connection = &self.connections[slot as usize];
        let request = connection.first;
        self.turns.is_some()
            && connection.in_flight == 1
            && connection.partial.is_none()
            && connection.since < self.begun
            && request.sent == self.begun
            && self.mix.requests()[usize::from(request.kind)].is_idempotent
    }

    /// Sends the request that a closed connection carried on another one, as clients do (RFC 9112 section 9.3.1).
    fn repeat<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        let connection = &mut self.connections[slot as usize];
        let mut request = connection.first;
        request.repeated = true;
        connection.pop();
        self.in_flight -= 1;
        let why = "the server closed a connection that had rested, as a request came";
        self.send_anew(wire, slot, request, why, now);
    }

    /// Fails the oldest request with a class, and those behind it as that class demands; then replaces the connection.
    pub(super) fn fail_all<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        class: ErrorClass,
        why: &str,
        now: Nanos,
    ) {
        let behind_class = match class {
            ErrorClass::Timeout | ErrorClass::Reset => class,
            _ => ErrorClass::ClosedBeforeResponse,
        };
        let received = self.connections[slot as usize]
            .partial
            .as_ref()
            .map(|partial| partial.beginning.clone());
        let received = received.unwrap_or_default();
        let mut class = class;
        while self.connections[slot as usize].in_flight > 0 {
            let request = self.connections[slot as usize].first;
            self.note(class, Some(request), Some(slot), &received, why, now);
            self.recorder.failed(class, request, now);
            self.connections[slot as usize].pop();
            self.in_flight -= 1;
            class = behind_class;
        }
        self.end_pass(slot, now);
        self.drop_connection(wire, slot);
        self.replace(wire, slot, now);
    }

    /// Looks for requests and attempts that have waited too long, and for attempts whose pause is over.
    pub(super) fn scan<W: Wire>(&mut self, wire: &mut W, now: Nanos) {
        for slot in 0..self.part.connections {
            let connection = &self.connections[slot as usize];
            match connection.state {
                State::Open
                    if connection.in_flight > 0
                        && now.saturating_sub(connection.first.sent) >= self.timeout =>
                {
                    self.fail_all(
                        wire,
                        slot,
                        ErrorClass::Timeout,
                        "no complete response within the limit",
                        now,
                    );
                }
                State::Connecting if now.saturating_sub(connection.since) >= self.timeout => {
                    self.drop_connection(wire, slot);
                    self.attempt_failed(slot, libc::ETIMEDOUT, now);
                }
                State::Resting
                    if now >= connection.since && !matches!(self.phase, Phase::Preparing) =>
                {
                    self.connections[slot as usize].state = State::Closed;
                    self.replace(wire, slot, now);
                }
                _ => {}
            }
        }
    }
}
