//! Streams and connections of HTTP/2 that end without a response, and what becomes of their requests.

use touchstone_h2::{Code, Fault};

use super::At;
use crate::clock::Nanos;
use crate::closes::Close;
use crate::connection::{Attempt, InFlight, State};
use crate::failure::ErrorClass;
use crate::h2::Exchange;
use crate::wire::Wire;
use crate::worker::Worker;

impl Worker {
    /// Takes out a stream that is over, or gives it up with a code.
    pub(super) fn take_stream(
        &mut self,
        slot: u32,
        at: At,
        give_up: Option<Code>,
    ) -> Option<Exchange> {
        let connection = &mut self.connections[slot as usize];
        let client = &mut connection.h2.as_mut()?.client;
        let exchange = match give_up {
            None => client.take(at, &mut self.control),
            Some(code) => client.cancel(at, code, &mut self.control),
        }?;
        connection.in_flight -= 1;
        connection.responses += 1;
        self.in_flight -= 1;
        Some(exchange)
    }

    /// Fails the request on a stream, which is over.
    pub(super) fn fail_stream(
        &mut self,
        slot: u32,
        at: At,
        class: ErrorClass,
        why: &str,
        now: Nanos,
    ) {
        let give_up = matches!(class, ErrorClass::Timeout).then_some(Code::CANCEL);
        let Some(exchange) = self.take_stream(slot, at, give_up) else {
            return;
        };
        let request = exchange.request;
        let received = exchange.partial.as_ref();
        let received = received.map_or(&[][..], |partial| &partial.beginning);
        self.note(class, Some(request), Some(slot), received, why, now);
        self.recorder.failed(class, request, now);
        self.spare = exchange.partial.or(self.spare.take());
        self.end_pass(slot, now);
    }

    /// Fails the oldest request in flight on a connection.
    pub(in crate::worker) fn fail_oldest_stream(
        &mut self,
        slot: u32,
        class: ErrorClass,
        why: &str,
        now: Nanos,
    ) {
        let link = self.connections[slot as usize].h2.as_ref();
        match link.and_then(|link| link.client.oldest()) {
            Some(at) => self.fail_stream(slot, at, class, why, now),
            None => self.connections[slot as usize].in_flight = 0,
        }
    }

    /// Gives up the streams whose response has been waited for too long; the connection goes on.
    pub(in crate::worker) fn time_out_streams<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        now: Nanos,
    ) {
        let generation = self.generation(slot);
        loop {
            let Some(link) = &self.connections[slot as usize].h2 else {
                return;
            };
            let is_overdue = |request: &InFlight| now.saturating_sub(request.sent) >= self.timeout;
            let overdue = link
                .client
                .all()
                .find(|(_, exchange)| is_overdue(&exchange.request))
                .map(|(at, _)| at);
            let Some(at) = overdue else {
                break;
            };
            let why = if link.client.waits_for_window() {
                "no complete response within the limit; the server gives no window for the request's body"
            } else {
                "no complete response within the limit"
            };
            self.fail_stream(slot, at, ErrorClass::Timeout, why, now);
            self.stream_is_over(wire, slot, now);
            if self.generation(slot) != generation {
                return self.control.clear();
            }
        }
        self.out.append(&mut self.control);
        self.flush(wire, slot);
    }

    /// The server did not process a request, and says so: it goes on another connection, from when it was due. If it was
    /// sent before, and this connection was new, it fails.
    pub(super) fn unprocessed(
        &mut self,
        slot: u32,
        at: At,
        class: ErrorClass,
        why: &str,
        now: Nanos,
    ) {
        let fresh = self.connections[slot as usize].responses == 0;
        let Some(exchange) = self.exchange(slot, at) else {
            return;
        };
        if fresh && exchange.request.attempt == Attempt::Repeated {
            return self.fail_stream(slot, at, class, why, now);
        }
        if let Some(h2) = &mut self.h2 {
            h2.used.unprocessed += 1;
        }
        self.again(slot, at);
    }

    /// Has the request on a stream wait for another connection in this place.
    pub(super) fn again(&mut self, slot: u32, at: At) {
        let responses = self.connections[slot as usize].responses;
        let Some(exchange) = self.take_stream(slot, at, None) else {
            return;
        };
        let mut request = exchange.request;
        if request.attempt != Attempt::Repeated {
            request.attempt = Attempt::Again;
        }
        let connection = &mut self.connections[slot as usize];
        connection.responses = responses;
        connection.again.get_or_insert_default().push_back(request);
        self.assigned += 1;
    }

    /// The server takes no more requests on this connection, and says which it has not processed.
    pub(super) fn goes_away<W: Wire>(&mut self, wire: &mut W, slot: u32, code: Code, now: Nanos) {
        let why = format!(
            "the server went away ({}) before it processed the request, on a new connection, too",
            code.name()
        );
        if let Some(link) = &mut self.connections[slot as usize].h2
            && link.away.replace(code).is_none()
            && let Some(h2) = &mut self.h2
        {
            h2.used.going_away += 1;
            let connection = &self.connections[slot as usize];
            self.closed
                .note(Close::Announced, connection.responses, Nanos::ZERO);
        }
        while let Some(link) = &self.connections[slot as usize].h2
            && let Some(at) = link.client.unprocessed()
        {
            self.unprocessed(slot, at, ErrorClass::GoingAway, &why, now);
        }
        self.stream_is_over(wire, slot, now);
    }

    /// The connection ended with requests in flight.
    pub(in crate::worker) fn ended_streams<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        error: i32,
        now: Nanos,
    ) {
        let connection = &self.connections[slot as usize];
        let (kept, rested) = (connection.responses > 0, connection.rested());
        let responses = connection.responses;
        let away = connection.h2.as_ref().and_then(|link| link.away);
        let explained = wire.explain(slot, error);
        let mut crossed = false;
        while let Some(link) = &self.connections[slot as usize].h2
            && let Some(at) = link.client.oldest()
        {
            let Some(exchange) = self.exchange(slot, at) else {
                break;
            };
            let begun = exchange.known_head || exchange.partial.is_some();
            let request = exchange.request;
            let idempotent = self.mix.requests()[usize::from(request.kind)].is_idempotent;
            let has_a_try = kept && request.attempt != Attempt::Repeated;
            if !begun && self.repeat && idempotent && has_a_try {
                crossed = true;
                self.again(slot, at);
                continue;
            }
            let (class, why) = match (error, away, begun) {
                (_, Some(code), _) => (
                    ErrorClass::GoingAway,
                    format!("the server went away without an answer: {}", code.name()),
                ),
                (0, _, true) => (
                    ErrorClass::ClosedMidResponse,
                    "the server closed inside the response".to_owned(),
                ),
                (0, _, false) => (
                    ErrorClass::ClosedBeforeResponse,
                    "the server closed before the first byte of the response".to_owned(),
                ),
                _ => (
                    ErrorClass::Reset,
                    std::io::Error::from_raw_os_error(error).to_string(),
                ),
            };
            let why = explained.clone().unwrap_or(why);
            self.fail_stream(slot, at, class, &why, now);
        }
        if crossed {
            self.closed.note(Close::UnderRequest, responses, rested);
            self.recorder.connection_failed(ErrorClass::ClosedIdle, now);
        }
        self.control.clear();
        self.drop_connection(wire, slot);
        self.replace(wire, slot, now);
    }

    /// The server broke the protocol: the connection is given up, with all that is in flight on it.
    #[cold]
    pub(super) fn broken<W: Wire>(&mut self, wire: &mut W, slot: u32, fault: Fault, now: Nanos) {
        self.out.append(&mut self.control);
        self.flush(wire, slot);
        let connection = &self.connections[slot as usize];
        if connection.state == State::Greeting {
            self.drop_connection(wire, slot);
            let why = Self::no_http2(fault.why);
            return self.attempt_failed(slot, libc::EPROTO, Some(why), now);
        }
        let why = format!("the server broke the rules of HTTP/2: {fault}");
        if connection.in_flight > 0 {
            return self.fail_all(wire, slot, ErrorClass::Malformed, &why, now);
        }
        let in_vain = connection.responses == 0;
        self.note(ErrorClass::UnaskedBytes, None, None, &[], &why, now);
        self.recorder
            .connection_failed(ErrorClass::UnaskedBytes, now);
        self.drop_connection(wire, slot);
        if in_vain {
            return self.pause(slot, now);
        }
        self.replace(wire, slot, now);
    }
}
