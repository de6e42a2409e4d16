//! Connections that end or have taken too long, and what becomes of their requests.

use super::{Phase, Worker};
use crate::clock::Nanos;
use crate::closes::Close;
use crate::connection::State;
use crate::crew::{Layer, Unconnected};
use crate::failure::ErrorClass;
use crate::wire::Wire;

/// A connection that the server closes so soon, without a request, was not accepted in earnest.
const AT_ONCE: Nanos = Nanos::from_millis(100);

/// Whether a connection ended because of TLS: not as a server closes it, so that no request is sent once more for it.
pub(super) const fn is_of_tls(error: i32) -> bool {
    matches!(error, libc::EPROTO | libc::ECONNABORTED)
}

/// The class of a request whose connection ended with an error number, or 0 if the server closed it, and a sentence on
/// that. A response to it may have `begun`.
pub(super) fn loss(error: i32, begun: bool) -> (ErrorClass, String) {
    match (error, begun) {
        (libc::EPROTO, _) => (ErrorClass::Malformed, "bytes that are not TLS".to_owned()),
        (0, true) => (
            ErrorClass::ClosedMidResponse,
            "the server closed inside the response".to_owned(),
        ),
        (0, false) => (
            ErrorClass::ClosedBeforeResponse,
            "the server closed before the first byte of the response".to_owned(),
        ),
        _ => (
            ErrorClass::Reset,
            std::io::Error::from_raw_os_error(error).to_string(),
        ),
    }
}

impl Worker {
    /// The connection ended: closed by the server (`error` 0), or with an error number.
    pub fn ended<W: Wire>(&mut self, wire: &mut W, slot: u32, mut error: i32, now: Nanos) {
        let connection = &mut self.connections[slot as usize];
        // The kernel reports an error once: here it was reported to the sending call.
        if let (0, Some(unsent)) = (error, &connection.unsent) {
            error = unsent.broken;
        }
        match connection.state {
            State::Closed | State::Resting => return,
            State::Connecting | State::Greeting => {
                return self.not_established(wire, slot, error, now);
            }
            State::Open => {}
        }
        if connection.in_flight == 0 {
            let why = "the server closed a connection that carried no request";
            return self.closed_at_rest(wire, slot, Close::AtRest, &[], why, now);
        }
        if self.carries_asked(slot) {
            return self.ended_between(wire, slot, error, now);
        }
        if self.h2.is_some() {
            return self.ended_streams(wire, slot, error, now);
        }
        if self.sockets.is_some() {
            return self.ended_websocket(wire, slot, error, now);
        }
        let connection = &mut self.connections[slot as usize];
        if error == 0
            && let Some(mut partial) = connection.partial.take()
        {
            if partial.response.close() {
                let request = connection.first;
                if let Err(malformed) = self.take_events(slot, request, &mut partial, true, now) {
                    self.connections[slot as usize].partial = Some(partial);
                    return self.lose(wire, slot, ErrorClass::Malformed, malformed.0, now);
                }
                return self.conclude(wire, slot, partial, (false, false), now);
            }
            connection.partial = Some(partial);
        }
        let connection = &mut self.connections[slot as usize];
        let begun = connection
            .partial
            .as_ref()
            .is_some_and(|partial| partial.response.begun());
        if !begun && !is_of_tls(error) && connection.has_a_try_left() {
            return self.closed_under_request(wire, slot, Close::UnderRequest, &[], now);
        }
        let (class, why) = loss(error, begun);
        let why = wire.explain(slot, error).unwrap_or(why);
        self.lose(wire, slot, class, &why, now);
    }

    /// A connection has ended, or taken too long, before it could carry a request.
    fn not_established<W: Wire>(&mut self, wire: &mut W, slot: u32, error: i32, now: Nanos) {
        let greeting = self.connections[slot as usize].state == State::Greeting;
        let explained = wire.explain(slot, error).map(|why| Unconnected {
            why,
            layer: Layer::Tls,
        });
        let reason = explained.or_else(|| {
            greeting.then(|| {
                if self.h2.is_some() {
                    Self::ungreeted(error)
                } else {
                    Self::unshaken(error)
                }
            })
        });
        self.drop_connection(wire, slot);
        let error = if error == 0 { libc::ECONNRESET } else { error };
        self.attempt_failed(slot, error, reason, now);
    }

    /// The server closed a connection that carried no request: that is its right (RFC 9112 section 9.5).
    pub(super) fn closed_at_rest<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        close: Close,
        received: &[u8],
        why: &str,
        now: Nanos,
    ) {
        let connection = &mut self.connections[slot as usize];
        let (responses, rested) = (connection.responses, now.saturating_sub(connection.since));
        self.closed.note(close, responses, rested);
        self.note(ErrorClass::ClosedIdle, None, None, received, why, now);
        self.recorder.connection_failed(ErrorClass::ClosedIdle, now);
        self.drop_connection(wire, slot);
        if responses == 0 && rested < AT_ONCE {
            // It takes no more connections: to ask again at once would be a load of its own.
            return self.pause(slot, now);
        }
        self.connections[slot as usize].failures = 0;
        self.replace(wire, slot, now);
    }

    /// Fails the oldest request in flight, whose response will not come whole, and ends its connection.
    pub(super) fn lose<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        class: ErrorClass,
        why: &str,
        now: Nanos,
    ) {
        self.fail_oldest(slot, class, why, now);
        self.spare = self.connections[slot as usize]
            .partial
            .take()
            .or(self.spare.take());
        let why = "the connection was lost with an earlier response";
        self.carry_over(wire, slot, ErrorClass::ClosedBeforeResponse, why, now);
    }

    /// Fails all requests in flight on a connection, and ends it.
    pub(super) fn fail_all<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        class: ErrorClass,
        why: &str,
        now: Nanos,
    ) {
        while self.connections[slot as usize].in_flight > 0 {
            self.fail_oldest(slot, class, why, now);
        }
        self.drop_connection(wire, slot);
        self.replace(wire, slot, now);
    }

    /// Fails the oldest request in flight on a connection.
    pub(super) fn fail_oldest(&mut self, slot: u32, class: ErrorClass, why: &str, now: Nanos) {
        if self.carries_asked(slot) {
            return self.fail_between(slot, why);
        }
        if self.h2.is_some() {
            return self.fail_oldest_stream(slot, class, why, now);
        }
        let connection = &self.connections[slot as usize];
        let request = connection.first;
        let partial = self.connections[slot as usize].partial.take();
        let why = self.break_off(request, partial.as_deref(), why);
        let received = partial
            .as_ref()
            .map_or(&[][..], |partial| &partial.beginning);
        self.note(class, Some(request), Some(slot), received, &why, now);
        self.recorder.failed(class, request, now);
        self.connections[slot as usize].partial = partial;
        self.connections[slot as usize].pop();
        self.in_flight -= 1;
        self.end_pass(slot, now);
    }

    /// Looks for requests and attempts that have waited too long, and for attempts whose pause is over.
    pub(super) fn scan<W: Wire>(&mut self, wire: &mut W, now: Nanos) {
        for slot in 0..self.part.connections {
            if self.may_stream(slot) {
                self.leave_streams(wire, slot, now);
            }
            let connection = &self.connections[slot as usize];
            match connection.state {
                State::Open
                    if connection.in_flight > 0
                        && now.saturating_sub(self.waits_since(slot)) >= self.timeout =>
                {
                    if self.h2.is_some() {
                        self.time_out_streams(wire, slot, now);
                        continue;
                    }
                    if self.sockets.is_some() {
                        self.time_out_messages(wire, slot, now);
                        continue;
                    }
                    self.fail_all(
                        wire,
                        slot,
                        ErrorClass::Timeout,
                        "no complete response within the limit",
                        now,
                    );
                }
                State::Connecting | State::Greeting
                    if now.saturating_sub(connection.since) >= self.timeout =>
                {
                    self.not_established(wire, slot, libc::ETIMEDOUT, now);
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
